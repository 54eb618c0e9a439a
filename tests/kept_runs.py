"""The runs that are kept in resources/studies, and their tables."""

from pathlib import Path

from oversmoothing.store.layout import read_csv
from oversmoothing.tables.record import read_record

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "resources/studies"
RUNS = sorted(path.parent for path in STUDIES.rglob("run.json"))
NO_RECORDS = ("claims", "gradient_claims", "rank_order", "samples", "repeated_symbols")  # a column of the last has gone


def tables(run):
    """Tables of a run, by name."""
    paths = (run / "tables").glob("*.csv")
    return {path.stem: (read_csv if path.stem in NO_RECORDS else read_record)(path) for path in paths}
