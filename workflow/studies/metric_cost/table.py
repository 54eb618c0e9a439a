"""Table I.1: seconds per position of each metric."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.page import Cell, Page, Section, Value, directions, labelled
from oversmoothing.published import beside, by_key, stand_ins
from studies.metric_cost.timed import REPEATS, TIMED

PUBLISHED_AS = {metric: "tbat" if metric.startswith("tbat") else metric for metric in TIMED}


def cost_table(costs: pd.DataFrame, models: Sequence[Mapping[str, Any]], published: pd.DataFrame) -> pd.DataFrame:
    """Seconds per position by model and metric, beside the thesis's (Table I.1).

    Parameters
    ----------
    costs : DataFrame
        Schema `measure.COSTS`: one row per position.
    models : sequence of mappings
        ``model`` and ``published_as`` of each (see the workflow's plan).
    published : DataFrame
        ``model``, ``metric``, ``mean``, ``sd``.

    Returns
    -------
    DataFrame
        One row per model (in the order given) and metric. ``ratio``, given only for ``tbat``, is the median over
        positions of the linear programs' time divided by ours.
    """
    printed = by_key(published, "model", "metric")
    rows = []
    for facts in models:
        own = costs[costs.model == facts["model"]]
        for metric in TIMED:
            key = (facts["published_as"], PUBLISHED_AS[metric])
            rows.append(
                {
                    "model": facts["model"],
                    "rank": own["rank"].iloc[0],
                    "metric": metric,
                    "unit": "seconds",
                    "better": "lower",
                    "mean": own[metric].mean(),
                    "sd": own[metric].std(),
                    "median": own[metric].median(),
                    "n": len(own),
                    "ratio": (own.tbat_published_method / own.tbat).median() if metric == "tbat" else np.nan,
                    **beside(printed, key, values=["mean", "sd"]),
                }
            )
    return pd.DataFrame(rows).astype({"published_mean": float, "published_sd": float})


def cost_page(table: pd.DataFrame, title: str) -> Page:
    """Page with one row per model, ours beside the published."""
    alike = table.groupby("rank").model.nunique().max() > 1
    rows = []
    for model, own in table.groupby("model", sort=False):
        rank = own["rank"].iloc[0]
        records = own.set_index("metric").to_dict("index")
        row: dict[str, Cell] = {"rank": f"{rank} ({model})" if alike else str(rank)}
        for metric, found in records.items():
            unit, per_second, decimals = ("s", 1, 2) if metric == "tbat_published_method" else ("µs", 1e6, 1)
            label = f"{TIMED[metric]} ({unit})"
            row[labelled(label, found["better"])] = _timed(found["mean"], found["sd"], per_second, decimals)
            if metric != "tbat":
                label = f"published {TIMED[PUBLISHED_AS[metric]]} ({unit})"
                row[label] = _timed(found["published_mean"], found["published_sd"], per_second, decimals)
        row["ratio"] = Value(records["tbat"]["ratio"], decimals=0)
        rows.append(row)
    return Page(title, [Section("", rows)], _legend(table))


def _timed(mean: float, sd: float, per_second: float, decimals: int) -> Value:
    return Value(mean * per_second, sd * per_second, decimals=decimals)


def _legend(table: pd.DataFrame) -> list[str]:
    parts = [
        f"Processor time for one position: mean ± standard deviation over {int(table.n.max()):,} positions, "
        f"each the median of {REPEATS} calls (linear programs: one)",
        directions(table.better),
        f"The times of {METRICS[AGAINST_TRUTHS[0]].name} to {METRICS[AGAINST_TRUTHS[-1]].name} are mostly the overhead "
        "of a call: a position takes far less time where one call handles many",
        "Ratio: how many times `reject_set` is faster than one linear program per token, the median over positions; "
        "both gave the same sets on every one of them. -: linear programs above `costs.highest_rank` are not run",
    ]
    if table.published_mean.notna().any():
        parts.append("The published times were taken on other hardware: compare how they grow, not their level")
    return parts + stand_ins(table)
