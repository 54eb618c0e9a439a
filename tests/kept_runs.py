"""The runs that are kept in resources/studies: their tables, and what pages quote."""

import re
from pathlib import Path

from oversmoothing.store.layout import read_csv
from oversmoothing.tables.record import read_record

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "resources/studies"
RUNS = sorted(path.parent for path in STUDIES.rglob("run.json"))
INTERVAL = ("value", "low", "high")
NO_RECORDS = ("claims", "gradient_claims", "rank_order", "samples", "repeated_symbols")  # a column of the last has gone
QUOTED = re.compile(r"([+-]?\d+\.\d+) \[([+-]?\d+\.\d+), ([+-]?\d+\.\d+)\]")


def tables(run):
    """Tables of a run, by name."""
    paths = (run / "tables").glob("*.csv")
    return {path.stem: (read_csv if path.stem in NO_RECORDS else read_record)(path) for path in paths}


def quotes(page, heading):
    """Means and intervals in a section of a page, as they are printed."""
    text = " ".join((ROOT / page).read_text().partition(heading)[2].partition("\n## ")[0].split())
    return [tuple(end.lstrip("+") for end in found) for found in QUOTED.findall(text)]


class Kept:
    """Cells of a kept run, by table, measure and rank."""

    def __init__(self, name):
        self.tables = tables(ROOT / "resources/studies" / name)

    def cell(self, table, column="value", **row):
        """The one cell in the row with these values."""
        frame = self.tables[table]
        (value,) = frame.loc[(frame[list(row)] == list(row.values())).all(axis=1), column]
        return float(value)

    def by_rank(self, table, measure, *ranks, column="value", kind="family"):
        """A cell per rank."""
        return [self.cell(table, column, measure=measure, kind=kind, rank=rank) for rank in ranks]

    def interval(self, table, measure, rank, kind="family"):
        """A mean and the ends of its interval."""
        return [self.cell(table, column, measure=measure, kind=kind, rank=rank) for column in INTERVAL]


def percent(values):
    """Shares as percentages."""
    return [100 * value for value in values]
