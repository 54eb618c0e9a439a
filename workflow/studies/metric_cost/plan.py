"""The table of costs and its figure, beside the thesis's Table I.1."""

from collections.abc import Iterator

from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table


def tables(run: Run) -> Iterator[Table]:
    """Yield the table and its figure, over bytes and where the heads of members are known."""
    if run.over_bytes and run.known_inside:
        yield Table(
            "metric_cost_table",
            "table.py",
            {"costs": f"{run.results}/metric_cost.parquet", "published": run.published("i_1")},
            settings(models=run.compared_inside("family")),
            table=Shown("metric_cost", "4 Oversmoothing", "Table I.1: cost of the metrics"),
            figure=Shown("metric_cost", "4 Oversmoothing", "Table I.1: cost of the metrics, drawn"),
        )


STUDY = Study(tables=tables, tested={"metric_cost": ("i_1",)})
