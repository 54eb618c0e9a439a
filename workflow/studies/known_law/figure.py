"""KL to the law by rank, forced and rest, with little and with much text; and what a stand-in would show."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from oversmoothing.tables.figures.style import PALETTE, Looks, handles, legend, other_look, style, titled, whiskers
from oversmoothing.tables.record import chosen
from studies.known_law.laws import LAW, STAND_INS

FORCED, REST = PALETTE[3], "0.78"
LOOKS: dict[str, dict[str, Any]] = {
    LAW: {"color": "0.2", "marker": "o", "linestyle": "none"},
    STAND_INS: {"color": PALETTE[0], "marker": "D", "linestyle": "none", "markerfacecolor": "none"},
}
NAMES = {LAW: "against the law", STAND_INS: "against models that learned its text"}
STEP = 0.16  # between two truths, in ranks


def draw(table: pd.DataFrame, laws: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw two panels for each law: KL as forced and rest, a group of bars by length of text; and TTO by truth."""
    names = [law["law"] for law in laws]
    members = chosen(table, kind="family", less=None)
    looks = LOOKS | {truth: _look(i) for i, truth in enumerate(sorted(set(members.truth) - set(LOOKS)))}
    with style():
        figure = Figure(figsize=(4.2 * max(2, len(names)), 7))  # a legend takes two
        panels = figure.subplots(2, len(names), squeeze=False, sharey="row")
        for column, law in enumerate(names):
            part = members[members.law == law]
            lengths = sorted(part.sequences.unique())
            _divided(panels[0][column], part[part.truth == LAW], lengths)
            _leaks(panels[1][column], part[part.sequences == lengths[0]], looks)
            panels[0][column].set_title(f"Law: {law}")
        for (first, *_), label in zip(panels, ("KL to the law (nats)", "TTO"), strict=True):
            first.set_ylim(bottom=0)
            first.set_ylabel(f"{label}\nlower is better")
        titled(
            figure,
            "Where the truth is known: what does the head force, and what does a stand-in hide?",
            "Text drawn from a law that is known at every byte. Above: distance from the law. Below: leak against the "
            "law, and against models that learned its text.",
        )
        several = (members.groupby("law").sequences.nunique() > 1).any()
        bars = [
            Patch(facecolor=FORCED, label="forced by the head, whatever enters it"),
            Patch(facecolor=REST, label="the rest" + (" (right of two bars: with more text)" if several else "")),
        ]
        legend(
            figure,
            [*bars, *handles({NAMES.get(key, f"against {key}"): look for key, look in looks.items()}, markersize=6)],
            columns=2,
        )
    return figure


def _divided(axes: Axes, table: pd.DataFrame, lengths: Sequence[int]) -> None:
    ranks = sorted(table["rank"].unique())
    width = 0.8 / len(lengths)
    for i, length in enumerate(lengths):
        of_length = table[table.sequences == length]
        cells = of_length.pivot_table(index="rank", columns="measure", values=["value", "low", "high"])
        at = [ranks.index(rank) + width * (i - (len(lengths) - 1) / 2) for rank in cells.index]
        forced, kl = cells["value"]["forced"], cells["value"]["kl"]
        axes.bar(at, forced, width * 0.9, color=FORCED)
        axes.bar(at, kl - forced, width * 0.9, bottom=forced, color=REST)
        errors = [kl - cells["low"]["kl"], cells["high"]["kl"] - kl] if "low" in cells else None
        axes.errorbar(at, kl, errors, color="0.2", linestyle="none", capsize=2, linewidth=1)
    _ranks(axes, ranks)


def _leaks(axes: Axes, table: pd.DataFrame, looks: Looks) -> None:
    ranks, step = sorted(table["rank"].unique()), min(STEP, 0.7 / len(looks))
    for i, (truth, look) in enumerate(looks.items()):
        part = table[(table.truth == truth) & (table.measure == "tto")].sort_values("rank")
        at = [ranks.index(rank) + step * (i - (len(looks) - 1) / 2) for rank in part["rank"]]
        axes.errorbar(at, part.value, whiskers(part), capsize=2, markersize=5, **look)
    _ranks(axes, ranks)


def _look(i: int) -> dict[str, Any]:
    """Return colour and marker of the i-th further kind of stand-ins."""
    return {**other_look(i + 1), "linestyle": "none", "markerfacecolor": "none"}


def _ranks(axes: Axes, ranks: Sequence[int]) -> None:
    axes.set_xticks(range(len(ranks)), [str(rank) for rank in ranks])
    axes.set_xlim(-0.5, len(ranks) - 0.5)
    axes.set_xlabel("rank of what enters the LM head")
    axes.grid(axis="y")
