"""Three ways to impose a rank, as a figure: loss, accuracy and oversmoothing against rank."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from oversmoothing.figures.style import PALETTE, style
from oversmoothing.imposed_rank.table import MEASURES, WAYS, against
from oversmoothing.layout import ARROWS

LOOKS: dict[str, dict[str, Any]] = {
    WAYS["family"]: {"color": PALETTE[0], "marker": "o", "linestyle": "-", "label": "learned from scratch"},
    WAYS["svd"]: {"color": PALETTE[1], "marker": "s", "linestyle": "--", "label": "head truncated by SVD"},
    WAYS["retrained"]: {
        "color": PALETTE[2],
        "marker": "^",
        "linestyle": "-.",
        "label": "head W = A B retrained, rest frozen",
    },
    WAYS["normed"]: {
        "color": PALETTE[3],
        "marker": "D",
        "linestyle": (0, (5, 1)),
        "label": "head with LayerNorm retrained, rest frozen",
    },
}
FULL = {"color": "0.35", "linestyle": ":", "linewidth": 1.2}


def imposed_rank_figure(table: pd.DataFrame, truth: str) -> Figure:
    """Draw every measure against rank, one line for each way, and the full model as a horizontal line.

    With several seeds the mean over them is drawn, and the interval of a point is that from the lowest to the highest
    of theirs.

    Parameters
    ----------
    table : DataFrame
        As `imposed_rank.table.imposed_rank_table` gives it.
    truth : str
        That oversmoothing is against.
    """
    own = against(table, truth)
    full = int(own["rank"][own.way == WAYS["family"]].max())
    with style():
        figure = Figure(figsize=(10, 6.4))
        for axes, (measure, (name, _, better)) in zip(
            figure.subplots(2, 3, sharex=True).flat, MEASURES.items(), strict=True
        ):
            part = own[own.measure == measure]
            unlimited = part[(part.way == WAYS["family"]) & (part["rank"] == full)]["mean"].mean()
            axes.axhline(unlimited, label=f"full model, rank {full}", **FULL)
            for way, look in LOOKS.items():
                _line(axes, part[part.way == way], look)
            axes.set_title(f"{name} {ARROWS[better]}")
            axes.grid(axis="y", color="0.9")
            _ranks(axes, sorted(own["rank"].unique()))
        for axes in figure.axes[3:]:
            axes.set_xlabel("rank of the head")
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(
            handles[1:] + handles[:1], labels[1:] + labels[:1], loc="outside lower center", ncols=3, frameon=False
        )
        title = f"Oversmoothing (TTO to KL) against {truth}, pure decoding"
        figure.suptitle(title, x=0.01, ha="left", fontsize="medium")
    return figure


def _line(axes: Axes, part: pd.DataFrame, look: dict[str, Any]) -> None:
    if part.empty:
        return
    by_rank = part.groupby("rank")
    mean, low, high = by_rank["mean"].mean(), by_rank.low.min(), by_rank.high.max()
    axes.plot(mean.index, mean, markersize=6, linewidth=1.6, **look)
    axes.fill_between(mean.index, low, high, color=look["color"], alpha=0.15, linewidth=0)


def _ranks(axes: Axes, ranks: list[int]) -> None:
    """Scale ranks by powers of two."""
    axes.set_xscale("log", base=2)
    powers = [2**i for i in range(20) if ranks[0] <= 2**i <= ranks[-1]]
    axes.set_xticks(powers, list(map(str, powers)))
    axes.xaxis.set_minor_locator(NullLocator())
