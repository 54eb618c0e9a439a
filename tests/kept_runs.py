"""The runs that are kept in resources/studies: their tables, and what pages quote."""

import re
from pathlib import Path

from oversmoothing.store.layout import read_csv

ROOT = Path(__file__).resolve().parent.parent
RUNS = sorted((ROOT / "resources/studies").iterdir())
INTERVAL = ("mean", "low", "high")
QUOTED = re.compile(r"([+-]?\d+\.\d+) \[([+-]?\d+\.\d+), ([+-]?\d+\.\d+)\]")


def tables(run):
    """Tables of a run, by name."""
    return {path.stem: read_csv(path) for path in (run / "tables").glob("*.csv")}


def quotes(page, heading):
    """Means and intervals in a section of a page, as they are printed."""
    text = " ".join((ROOT / page).read_text().partition(heading)[2].partition("\n## ")[0].split())
    return [tuple(end.lstrip("+") for end in found) for found in QUOTED.findall(text)]
