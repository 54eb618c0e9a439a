"""The table of classes (Tables B.1 and B.2), beside the thesis's sets."""

from collections.abc import Iterator

from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table


def tables(run: Run) -> Iterator[Table]:
    """Yield the table, where the heads of members are known."""
    if run.known_inside:
        yield Table(
            "argmaxability_table",
            "table.py",
            {
                "vocabulary": run.vocabulary,
                "classes": [f"{run.results}/argmaxability/{name}.parquet" for name in run.known_inside],
                "published": run.published("b"),
            },
            settings(models=run.compared_inside("family")),
            Shown("argmaxability", "4 Oversmoothing", f"Tables B.1, B.2: unargmaxable {run.unit}s"),
        )


STUDY = Study(tables=tables, tested={"argmaxability": ("b",), "bytes": ()})
