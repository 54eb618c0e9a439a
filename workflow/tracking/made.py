"""What made the results: configs, seeds, commit, versions and date, noted in run.json of the results folder."""

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
from oversmoothing.store.sealed_json import write_sealed

PACKAGES = ("torch", "numpy", "scipy", "pandas", "snakemake")
ROOT = Path(__file__).resolve().parents[2]


def note_run(results: str | Path, config: Mapping[str, Any], files: Sequence[str]) -> None:
    """Write run.json, which the page ends with; it decides nothing, so that where it cannot be written none is."""
    run: dict[str, Any] = {"config": [os.path.relpath(file) for file in files], "seeds": config["seeds"]}
    run |= {"commit": _commit(), "date": datetime.now(UTC).date().isoformat(), "python": platform.python_version()}
    run["versions"] = {name: version(name) for name in PACKAGES}
    with suppress(OSError, UserError):
        write_sealed(Path(results) / "run.json", run)


def _commit() -> str:
    """Commit of the code, with "-dirty" where files differ from it; "unknown" outside a clone."""
    describe = ["describe", "--always", "--dirty", "--abbrev=12"]
    asked = ["git", "--no-optional-locks", "-C", str(ROOT), *describe]
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    return "unknown"
