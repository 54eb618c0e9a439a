"""Table I.1, seconds per position of each metric, beside the thesis's; and the same as a figure."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Cell, Page, Section, Value, directions, labelled
from oversmoothing.tables.published import by_key, printed, read_published, stand_ins
from oversmoothing.tables.record import facts, read_record, record
from oversmoothing.tables.story import legend
from studies.metric_cost.figure import draw
from studies.metric_cost.timed import RATIO, REPEATS, TIMED

TITLE = "What a metric costs, {by} (Table I.1)."
PUBLISHED_AS = {metric: "tbat" if metric.startswith("tbat") else metric for metric in TIMED}


def main(job: Job) -> None:
    """Read the seconds of single positions; write the table and the figure in all formats."""
    costs = read_table(job.input.costs).to_pandas()
    table = cost_table(costs, job.params.settings["models"], read_published(job.input.published))
    write_record(job.output, table, cost_page(table, TITLE))
    write_figure(draw(read_record(job.output.csv)), [job.output.png, job.output.pdf, job.output.svg])


def cost_table(costs: pd.DataFrame, models: Sequence[Mapping[str, Any]], published: pd.DataFrame) -> pd.DataFrame:
    """Seconds per position by model and metric, from `measure.COSTS`, beside the thesis's (Table I.1).

    Of each model, in the order given, the record has the time of each metric and its median, which is called
    ``tto_median``; and `RATIO`, the median over positions of the linear programs' time divided by ours.
    """
    cells = by_key(published, "model", "metric")
    rows = []
    for model in models:
        seconds = costs[costs.model == model["model"]]
        known = {**facts(model), "rank": seconds["rank"].iloc[0]}
        for metric in TIMED:
            row = {**known, "n": len(seconds), "unit": "seconds", "better": "lower"}
            values = {"value": seconds[metric].mean(), "sd": seconds[metric].std()}
            beside = printed(cells, (model["published_as"], PUBLISHED_AS[metric]))
            rows.append({**row, "measure": metric, **values, **beside, "published_differs": None})
            rows.append({**row, "measure": f"{metric}_median", "value": seconds[metric].median()})
        ratio = (seconds.tbat_published_method / seconds.tbat).median()
        rows.append({**known, "measure": RATIO, "value": ratio, "unit": "times"})
    return record(rows)


def cost_page(table: pd.DataFrame, title: str) -> Page:
    """Page with one row per model, ours beside the published."""
    alike = table.groupby("rank").model.nunique().max() > 1
    rows = []
    for model, of_model in table.groupby("model", sort=False):
        rank = of_model["rank"].iloc[0]
        records = of_model.set_index("measure").to_dict("index")
        row: dict[str, Cell] = {"rank": f"{rank} ({model})" if alike else str(rank)}
        for metric in TIMED:
            cost = records[metric]
            unit, per_second, decimals = ("s", 1, 2) if metric == "tbat_published_method" else ("µs", 1e6, 1)
            label = f"{TIMED[metric]} ({unit})"
            row[labelled(label, cost["better"])] = _timed(cost["value"], cost["sd"], per_second, decimals)
            if metric != "tbat":
                label = f"published {TIMED[PUBLISHED_AS[metric]]} ({unit})"
                row[label] = _timed(cost["published"], cost["published_sd"], per_second, decimals)
        row["ratio"] = Value(records[RATIO]["value"], decimals=0)
        rows.append(row)
    return Page(title, [Section("", rows)], _legend(table))


def _timed(mean: float, sd: float, per_second: float, decimals: int) -> Value:
    return Value(mean * per_second, sd * per_second, decimals=decimals)


def _legend(table: pd.DataFrame) -> list[str]:
    first, last = (METRICS[AGAINST_TRUTHS[i]].name for i in (0, -1))
    published = table.published.notna().any()
    n = int(table.n.max())
    words = legend(__file__, "metric_cost", n=n, repeats=REPEATS, first=first, last=last, published=published)
    return [*words, directions(table.better), *stand_ins(table)]


if __name__ == "__main__":
    run(main)
