"""The figure of what heads force by rank, a line for each vocabulary, both on logarithmic scales."""

import pandas as pd
from matplotlib.figure import Figure

from oversmoothing.tables.figures.style import (
    handles,
    legend,
    named,
    ordered_looks,
    rank_axis,
    style,
    titled,
    whiskers,
)
from oversmoothing.tables.record import chosen
from studies.dimensions_needed.names import BEST, FITTED, TARGETS, TRAINED
from studies.dimensions_needed.table import KNOWN

HEADS = {  # how the curves of a vocabulary are drawn, by what they are called
    "best head found, held out": (BEST, {"linestyle": "-"}),
    "the same where fitted": (FITTED, {"linestyle": ":", "marker": ""}),
    "trained head, held out": (TRAINED, {"linestyle": "--", "markerfacecolor": "none"}),
}


def draw(table: pd.DataFrame) -> Figure:
    """Draw what `table.joined` returns; whiskers are 95 % intervals over windows. What is not above 0 is left out."""
    rows = table[table.vocabulary.notna() & (table.value > KNOWN)]
    known = list(dict.fromkeys(zip(rows.vocabulary, rows.truth, strict=True)))
    looks = {key: {"linestyle": "-", **look} for key, look in ordered_looks(known).items()}
    several = len({truth for _, truth in known}) > 1
    with style():
        figure = Figure(figsize=(7.5, 5.4))
        axes = figure.subplots()
        for (v, truth), look in looks.items():
            for measure, own in HEADS.values():
                curve = chosen(rows, vocabulary=v, truth=truth, measure=measure).sort_values("rank")
                if len(curve):
                    lines = {**look, **own}
                    axes.errorbar(curve["rank"].astype(float), curve.value, whiskers(curve), capsize=2, **lines)
        for nats in TARGETS:
            axes.axhline(nats, color="0.6", linewidth=0.8, zorder=1)
        axes.set_yscale("log")
        axes.set_ylabel("forced, nats a token")
        rank_axis(axes, sorted(rows["rank"].dropna().unique().astype(int).tolist()), "rank of the head")
        titled(
            figure,
            "How many dimensions does a vocabulary need?",
            "What the head of a rank forces of the divergence from a truth, whatever enters it. Bars: 95 % intervals "
            "over windows. Grey lines: 0.1, 0.01 and 0.001 nats.",
        )
        entries = {
            f"{v:,} tokens" + (f", {named(truth, several)}" if several else ""): look
            for (v, truth), look in looks.items()
        }
        dark = {"color": "0.3", "marker": "o"}
        shown = {name: {**dark, **own} for name, (measure, own) in HEADS.items() if (rows.measure == measure).any()}
        legend(figure, handles({**entries, **shown}), columns=3)
    return figure
