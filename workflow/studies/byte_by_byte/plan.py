"""The table of bytes or tokens; over bytes also its figures, for which the chart reads the training text."""

from collections.abc import Iterator

from snakemake.io import ancient

from plan.models import model_rows
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table

FIGURES = {
    "byte_oversmoothing": ("4 Oversmoothing", "Figure 4.2: oversmoothing by byte"),
    "argmax_frequency": ("4 Oversmoothing", "Figure 4.3: argmaxes by byte"),
    "utf8_bytes": ("3 Models", "Figure A.1: bytes in UTF-8"),
}


def tables(run: Run) -> Iterator[Table]:
    """Yield the table, over tokens of tokens, and the figures of bytes."""
    rows = model_rows(run.models, "truth", "family")
    text = {"training": ancient(run.corpus["train"]), "manifest": run.manifest}
    yield Table(
        "bytes_table",
        "table.py",
        {
            "vocabulary": run.vocabulary,
            **(text if run.over_bytes and run.trained else {"training": [], "manifest": []}),
            "sums": [f"{run.results}/bytes/{row['model']}.parquet" for row in rows],
        },
        settings(**run.config["statistics"], models=rows),
        Shown(f"{run.unit}s", "4 Oversmoothing", f"Beside Figures 4.2, 4.3: {run.unit} by {run.unit}"),
    )
    if run.over_bytes:
        yield Table(
            "byte_figures",
            "figures.py",
            {"table": run.table("bytes"), **text},
            settings(models=rows, truths=run.truths),
            figures={name: [Shown(name, *words)] for name, words in FIGURES.items()},
        )


STUDY = Study(tables=tables, tested={"bytes": ()})
