"""The table of effective ranks (Table 7.3)."""

from collections.abc import Iterator

from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table


def tables(run: Run) -> Iterator[Table]:
    """Yield the table, where the representations of members are known."""
    if run.known_inside:
        yield Table(
            "effective_rank_table",
            "table.py",
            {
                "ranks": [f"{run.results}/ranks/{name}.parquet" for name in run.known_inside],
                "published": run.published("7_3"),
            },
            settings(models=run.compared_inside("family"), positions=run.config["ranks"]["positions"]),
            Shown("effective_rank", "7 Rank", "Table 7.3: effective ranks"),
        )


STUDY = Study(tables=tables, tested={"effective_rank": ("7_3",)})
