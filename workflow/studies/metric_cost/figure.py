"""The costs of Table I.1 as a figure."""

from collections.abc import Sequence
from itertools import cycle, pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.tables.figures.style import PALETTE, rank_axis, style, titled
from studies.metric_cost.timed import RATIO, TIMED

TBAT = {  # label, colour and marker
    "tbat": ("TBAT here", PALETTE[0], "o"),
    "tbat_published_method": ("TBAT as published:\none LP per token", PALETTE[3], "o"),
}
OTHERS = list(zip((PALETTE[i] for i in (1, 2, 4, 9, 5, 7)), "sD^v<>", strict=True))
PUBLISHED: dict[str, Any] = {"linestyle": (0, (3, 2)), "marker": "o", "markersize": 5, "linewidth": 1}
SPAN: dict[str, Any] = {"color": "0.6", "linewidth": 1, "linestyle": ":"}
ON_SPAN: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small", "color": "0.3"}
ON_SPAN["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}


def draw(table: pd.DataFrame) -> Figure:
    """Draw the seconds of `table.cost_table` that each metric takes against the rank; models of one are averaged."""
    with style():
        figure = Figure(figsize=(8, 5.2))
        axes = figure.add_subplot()
        ends = []
        others = cycle(OTHERS)
        for metric, costs in table[table.measure.isin(TIMED)].groupby("measure", sort=False):
            label, colour, marker = TBAT.get(metric) or (METRICS[metric].name, *next(others))
            line = costs.groupby("rank", as_index=False).value.mean().dropna()
            axes.plot(line["rank"], line.value, color=colour, marker=marker, linewidth=1.8, markersize=5)
            ends.append((label, colour, line.value.iloc[-1]))
            if metric != "tbat":
                _published(axes, costs, colour, marker)
        _ratios(axes, table)
        axes.set_yscale("log")
        axes.margins(x=0.06)
        rank_axis(axes, sorted(table["rank"].unique()), others=_published_ranks(table))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.grid(axis="y")
        axes.set_ylabel("seconds of processor time, lower is better")
        titled(figure, "What does a metric cost at one position?", f"Mean of {int(table.n.max()):,} positions.")
        _label_ends(axes, ends)
        axes.plot([], [], color="0.35", marker="o", label="measured here")
        if table.published.notna().any():
            axes.plot([], [], color="0.35", markerfacecolor="white", label="the thesis, on other hardware", **PUBLISHED)
        axes.plot([], [], label="times that TBAT here is faster", **SPAN)
        axes.legend(loc="upper left")
    return figure


def _published(axes: Axes, costs: pd.DataFrame, colour: str, marker: str) -> None:
    known = costs.dropna(subset="published").drop_duplicates("published_model")
    if known.empty:
        return
    line = known.assign(rank=known.published_model.astype(int)).sort_values("rank")
    look = {**PUBLISHED, "marker": marker, "color": colour, "markerfacecolor": "white"}
    axes.plot(line["rank"], line.published, zorder=1.5, **look)


def _published_ranks(table: pd.DataFrame) -> list[int]:
    return table.published_model.dropna().astype(int).unique().tolist()


def _ratios(axes: Axes, table: pd.DataFrame) -> None:
    """Connect the two TBAT lines at each rank that has both, and label the ratio between them."""
    for rank, costs in table.groupby("rank"):
        ratios = costs.value[costs.measure == RATIO]
        if ratios.isna().all():
            continue
        means = costs.groupby("measure").value.mean()
        low, high = means["tbat"], means["tbat_published_method"]
        axes.plot([rank, rank], [low, high], zorder=1, **SPAN)
        words = f"{float(f'{ratios.median():.2g}'):,.0f}\N{MULTIPLICATION SIGN}"
        axes.text(rank, np.sqrt(low * high), words, **ON_SPAN)


def _label_ends(axes: Axes, ends: Sequence[tuple[str, str, float]], gap: float = 0.045) -> None:
    """Label each line at the right of the axes, at its end or as close to it as the other labels allow."""
    low, high = np.log(axes.get_ylim())
    wanted = [(np.log(value) - low) / (high - low) for *_, value in ends]
    heights = np.array(wanted)
    order = np.argsort(wanted, kind="stable")
    for lower, upper in pairwise(order):
        heights[upper] = max(heights[upper], heights[lower] + gap)
    for (label, colour, _), height in zip(ends, heights, strict=True):
        axes.text(1.02, height, label, color=colour, transform=axes.transAxes, va="center")
