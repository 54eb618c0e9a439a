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
    """Return the record of `measure.COSTS` beside the thesis's (Table I.1).

    It has of each metric the mean and the ``_median``, and `RATIO`.
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
    """Return the page with one row per model, ours beside the published."""
    alike = table.groupby("rank").model.nunique().max() > 1
    rows = []
    for model, of_model in table.groupby("model", sort=False):
        rank = of_model["rank"].iloc[0]
        records = of_model.set_index("measure").to_dict("index")
        row: dict[str, Cell] = {"rank": f"{rank} ({model})" if alike else str(rank)}
        for metric in TIMED:
            cost = records[metric]
            unit, per_second, decimals = ("s", 1, 2) if metric == "tbat_published_method" else ("µs", 1e6, 1)
            timed = {labelled(f"{TIMED[metric]} ({unit})", cost["better"]): (cost["value"], cost["sd"])}
            if metric != "tbat":
                label = f"published {TIMED[PUBLISHED_AS[metric]]} ({unit})"
                timed[label] = cost["published"], cost["published_sd"]
            for name, (value, sd) in timed.items():
                row[name] = Value(value * per_second, sd * per_second, decimals=decimals)
        row["ratio"] = Value(records[RATIO]["value"], decimals=0)
        rows.append(row)
    first, last = (METRICS[AGAINST_TRUTHS[i]].name for i in (0, -1))
    facts_of = {"n": int(table.n.max()), "published": table.published.notna().any(), "first": first, "last": last}
    words = legend(__file__, "metric_cost", repeats=REPEATS, **facts_of)
    return Page(title, [Section("", rows)], [*words, directions(table.better), *stand_ins(table)])


if __name__ == "__main__":
    run(main)
