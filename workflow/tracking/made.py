"""What a results folder says of itself: what made it (run.json), and where columns are explained (README.md)."""

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from oversmoothing.jobs import UserError
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.sealed_json import write_sealed

PACKAGES = ("torch", "numpy", "scipy", "pandas", "snakemake")
HEADING = "# Results of the workflow"
README = """{heading}

Every file, and every column of the tables and the Parquet files: [docs/results.md]({pages}).
Those of a study are in the README of its folder under `workflow/studies/`.

`tables/*.csv` have a column `unit`. In `scores/METRIC/MODEL.parquet` the column `value` is in the unit of the metric,
which the metadata of the file state as `unit`:

| metric | name | unit |
|:---|:---|:---|
{units}
"""
ROOT = Path(__file__).resolve().parents[2]


def note_run(results: str | Path, config: Mapping[str, Any], files: Sequence[str]) -> None:
    """Write run.json, which the page ends with; it decides nothing, so that where it cannot be written none is."""
    run: dict[str, Any] = {"config": [os.path.relpath(file) for file in files], "seeds": config["seeds"]}
    run |= {"commit": _commit(), "date": datetime.now(UTC).date().isoformat(), "python": platform.python_version()}
    run["versions"] = {name: version(name) for name in PACKAGES}
    with suppress(OSError, UserError):
        write_sealed(Path(results) / "run.json", run)


def explain(results: str | Path) -> None:
    """Write README.md, which leads to the documentation of columns; a file of that name that is the user's stays."""
    readme = Path(results) / "README.md"
    pages = os.path.relpath(ROOT / "docs/results.md", readme.parent)
    units = "\n".join(f"| `{name}` | {metric.label} | {metric.unit} |" for name, metric in METRICS.items())
    with suppress(OSError, ValueError):
        if not readme.exists() or readme.read_text(encoding="utf-8").startswith(HEADING):
            with atomic_path(readme) as temporary:
                temporary.write_text(README.format(heading=HEADING, pages=pages, units=units), encoding="utf-8")


def _commit() -> str:
    """Return the commit of the code, with "-dirty" where files differ from it; "unknown" outside a clone."""
    describe = ["describe", "--always", "--dirty", "--abbrev=12"]
    asked = ["git", "--no-optional-locks", "-C", str(ROOT), *describe]
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    return "unknown"
