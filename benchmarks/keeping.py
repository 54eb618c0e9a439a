"""Keep what a benchmark measured in resources/benchmarks/NAME.csv, which pages quote."""

import csv
import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from keep_study import ROOT, machine

COLUMNS = ("case", "measure", "value", "unit", "machine", "load", "date", "commit")


def keep(name: str, case: str, measured: Mapping[str, tuple[float, str]], folder: Path | None = None) -> None:
    """Put the measures of a case, each a value and its unit, in place of the rows that the case had."""
    path = (folder or ROOT / "resources/benchmarks") / f"{name}.csv"
    made = {
        "machine": machine(),
        "load": f"{os.getloadavg()[0]:.1f}",
        "date": datetime.now(UTC).date().isoformat(),
        "commit": subprocess.check_output(["git", "rev-parse", "--short=12", "HEAD"], text=True, cwd=ROOT).strip(),
    }
    rows = [row for row in _read(path) if row["case"] != case]
    for measure, (value, unit) in measured.items():
        rows.append({"case": case, "measure": measure, "value": f"{value:.5g}", "unit": unit, **made})
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _read(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
