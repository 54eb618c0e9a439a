"""KL to the truth by rank, forced by the head and the rest; TTO of model and nearest distribution."""

from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from oversmoothing.tables.figures.style import PALETTE, handles, named, style, titled
from studies.forced_part.finding import finding, members

FORCED: dict[str, Any] = {"facecolor": PALETTE[3], "hatch": "////", "edgecolor": "white", "linewidth": 0}
REST: dict[str, Any] = {"facecolor": "0.78", "edgecolor": "0.78", "linewidth": 0}
ON_ELLIPSOID: dict[str, Any] = {"marker": "v", "color": "black", "markerfacecolor": "white", "linestyle": "none"}
MODEL: dict[str, Any] = {"marker": "o", "color": "0.25", "linestyle": "none"}
NEAREST: dict[str, Any] = {"marker": "D", "color": PALETTE[3], "markerfacecolor": "white", "linestyle": "none"}
WIDTH = 0.7


def draw(table: pd.DataFrame) -> Figure:
    """Draw forced and rest of the family in the table `forced`, beside TTO of model and q*, a row per truth."""
    truths = list(table.truth[table.kind == "family"].unique())
    with style():
        figure = Figure(figsize=(10, 1.3 + 3.4 * len(truths)))
        panels = figure.subplots(len(truths), 2, squeeze=False, width_ratios=(3, 2))
        for (left, right), truth in zip(panels, truths, strict=True):
            against = named(truth) if len(truths) > 1 else "the truth"
            _divergence(left, table, truth)
            left.set_title(f"KL to {against}, and how much of it is forced", weight="bold")
            _tto(right, table, truth)
            right.set_title(f"TTO against {against}", weight="bold")
        titled(figure, "How much of the distance from the truth does the head force, by rank?", finding(table))
        entries: list[Artist] = [
            Patch(label="forced: up to the nearest distribution that the head can give", **FORCED),
            Patch(label="the rest: from there to the model (its trunk, training and text)", **REST),
        ]
        if (table.measure == "norm_forced").any():
            entries += handles({"forced by the head and the LayerNorm before it, at most": ON_ELLIPSOID})
        both = handles({"the model": MODEL, "that nearest distribution": NEAREST}, markersize=7)
        for axes, shown in zip(panels[-1], (entries, both), strict=True):
            axes.legend(handles=shown, loc="upper left", bbox_to_anchor=(0, -0.2))
    return figure


def _divergence(axes: Axes, table: pd.DataFrame, truth: str) -> None:
    whole, forced, share = (members(table, measure, truth) for measure in ("kl", "forced", "share"))
    places = _rank_axis(axes, whole)
    bottom = forced["mean"].reindex(whole.index)
    axes.bar(places, bottom, WIDTH, **FORCED)
    axes.bar(places, whole["mean"] - bottom, WIDTH, bottom=bottom, **REST)
    for ends in (forced.reindex(whole.index), whole):
        axes.errorbar(places, ends["mean"], yerr=_spread(ends), fmt="none", ecolor="black", capsize=3)
    for place, (member, kl) in zip(places, whole.iterrows(), strict=True):
        if member in share.index:
            top = kl["mean"] if pd.isna(kl.high) else kl.high
            words = _percent(share["mean"][member])
            axes.annotate(words, (place, top), (0, 3), textcoords="offset points", ha="center", fontsize="small")
    together = members(table, "norm_forced", truth).reindex(whole.index)
    aside = [place + 0.22 for place in places]
    axes.errorbar(aside, together["mean"], yerr=_spread(together), capsize=2, **ON_ELLIPSOID)
    axes.set_ylabel("nats, lower is better")
    axes.margins(y=0.12)
    axes.set_ylim(bottom=0)


def _tto(axes: Axes, table: pd.DataFrame, truth: str) -> None:
    model, nearest = (members(table, measure, truth) for measure in ("tto", "nearest_tto"))
    places = _rank_axis(axes, model)
    nearest = nearest.reindex(model.index)
    axes.vlines(places, nearest["mean"], model["mean"], color="0.75", linewidth=1.5, zorder=1)
    for means, look in ((model, MODEL), (nearest, NEAREST)):
        axes.errorbar(
            places, means["mean"], yerr=_spread(means), capsize=3, markersize=7, clip_on=False, zorder=3, **look
        )
    axes.set_ylabel("probability, lower is better")
    axes.set_ylim(bottom=0)


def _rank_axis(axes: Axes, members: pd.DataFrame) -> list[int]:
    """Place the members side by side; their names, and grid lines."""
    places = list(range(len(members)))
    ranked = all(isinstance(member, int) for member in members.index)
    axes.set_xticks(places, [str(member) for member in members.index], rotation=0 if ranked else 20)
    axes.set_xlim(-0.6, len(members) - 0.4)
    axes.set_xlabel("rank of what enters the LM head" if ranked else "")
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    return places


def _spread(members: pd.DataFrame) -> list[pd.Series]:
    return [members["mean"] - members.low, members.high - members["mean"]]


def _percent(share: float) -> str:
    return "0 %" if share == 0 else f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"
