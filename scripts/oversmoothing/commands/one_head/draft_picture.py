"""Picture of how often a truth accepts a draft, by the tokens that the draft keeps and by the rank of its head."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from oversmoothing.commands.one_head.draft import TITLE
from oversmoothing.tables.figures.style import handles, legend, style

LOOKS: dict[str, dict[str, Any]] = {
    "tokens kept (the most it can be)": {"color": "C0", "marker": "o"},
    "columns of the head": {"color": "C1", "marker": "s"},
}


def draw(
    course: np.ndarray, kept: Sequence[Mapping[str, Any]], ranks: Sequence[Mapping[str, Any]], truth: str
) -> Figure:
    """Draw acceptance against the size of a draft on a logarithmic scale, with 95 % intervals.

    `course` is the truth's mean mass on the 1, 2, ... commonest tokens; the rows of `kept` and `ranks` have ``size``,
    ``acceptance``, ``low`` and ``high``.
    """
    with style():
        figure = Figure(figsize=(6, 4))
        axes = figure.add_subplot()
        axes.plot(np.arange(1, len(course) + 1), course, color="C0", linewidth=1)
        for look, rows in zip(LOOKS.values(), (kept, ranks), strict=True):
            sizes, means = ([row[name] for row in rows] for name in ("size", "acceptance"))
            axes.plot(sizes, means, **look, linestyle="-" if rows is ranks else "none")
            known = [row for row in rows if row["low"] is not None]
            lows, highs = ([row[end] for row in known] for end in ("low", "high"))
            axes.vlines([row["size"] for row in known], lows, highs, colors=look["color"])
        axes.set(xscale="log", ylim=(0, 1.02), xlabel="size of the draft", ylabel=f"accepted by {truth}")
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        legend(figure, handles(LOOKS))
        figure.set_label(f"How often {truth} {TITLE}")
    return figure
