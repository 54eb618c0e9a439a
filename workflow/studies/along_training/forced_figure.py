"""What the head forces of the divergence from the truth, and the rest, against training steps, one panel per rank."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.tables.figures.style import PALETTE, handles, legend, named, step_axis, style, titled
from oversmoothing.tables.published import listed

OVER = 0.9  # of a fall
LOOKS: dict[str, dict[str, Any]] = {
    "forced": {"color": PALETTE[3], "marker": "D", "linestyle": "-"},
    "rest": {"color": "0.45", "marker": "o", "linestyle": (0, (4, 1.5))},
}
MARK: dict[str, Any] = {"marker": "o", "markersize": 13, "mfc": "none", "mec": "black", "linestyle": "none"}


def draw(table: pd.DataFrame) -> Figure:
    """Draw the forced part and the rest against steps: one column per rank, one row per truth, one line per seed.

    The table has ``model``, ``rank``, ``step``, ``measure``, ``truth`` and ``value``. The step at which a part has
    lost `OVER` of all that it loses is ringed.
    """
    divided = table[table.measure.isin(LOOKS)]
    truths, ranks = list(divided.truth.unique()), sorted(divided["rank"].unique())
    with style():
        figure = Figure(figsize=(max(7.5, 2.4 * len(ranks)), 1.4 + 2.9 * len(truths)))
        panels = figure.subplots(len(truths), len(ranks), squeeze=False, sharex=True, sharey=True)
        for row, truth in zip(panels, truths, strict=True):
            for axes, rank in zip(row, ranks, strict=True):
                alike = divided[(divided["rank"] == rank) & (divided.truth == truth)]
                for model in alike.model.unique():
                    _lines(axes, alike[alike.model == model].pivot(index="step", columns="measure", values="value"))
                nothing = (alike.value[alike.measure == "forced"] == 0).all()
                axes.set_title(f"rank {rank}{': nothing forced' if nothing else ''}")
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter("{x:g}")
                axes.grid(axis="y")
                step_axis(axes, int(divided.step.max()), narrow=True)
            row[0].set_ylabel(f"KL to {named(truth) if len(truths) > 1 else 'the truth'} (nats), lower is better")
        titled(figure, "When does what the head forces stop falling, and when the rest?", which_ends_first(divided))
        entries = handles({"forced by the head": LOOKS["forced"], "the rest": LOOKS["rest"]}, markersize=5)
        legend(figure, entries + handles({f"its fall is over, but for {100 * (1 - OVER):.0f} %": MARK}))
    return figure


def _lines(axes: Axes, along: pd.DataFrame) -> None:
    for part, look in LOOKS.items():
        values = along[part]
        positive = values.where(values > 0)  # on a logarithmic scale
        axes.plot(positive.index, positive, markersize=4, linewidth=1.5, **look)
        if (step := over_at(values)) is not None:
            axes.plot([step], [values[step]], **MARK)


def which_ends_first(along: pd.DataFrame) -> str:
    """State at which ranks the forced part stops falling before the rest along training, and at which after it.

    A rank is named only if each part loses more than half of itself, and all seeds, against all truths, agree on the
    order of the kept steps at which it has lost the share `OVER` of what it loses.
    """
    orders: dict[int, set[str]] = {}
    for (rank, _, _), parts in along.groupby(["rank", "model", "truth"]):
        forced, rest = (over_at(parts[parts.measure == part].set_index("step").value) for part in ("forced", "rest"))
        order = "" if forced is None or rest is None or forced == rest else "before" if forced < rest else "after"
        orders.setdefault(int(rank), set()).add(order)
    sentences = []
    for order in ("before", "after"):
        if ranks := [rank for rank, agreed in sorted(orders.items()) if agreed == {order}]:
            where = f"rank{'s' if len(ranks) > 1 else ''} {listed([str(rank) for rank in ranks])}"
            sentences.append(f"{order} that of the rest at {where}")
    if not sentences:
        return "The forced part and the rest along training"
    return f"The fall of the forced part is over {', '.join(sentences)}"


def over_at(values: pd.Series) -> int | None:
    """First step at which a measure, by step, has lost the share `OVER` of all it loses; None if half stays."""
    values = values.sort_index()
    first, last = values.iloc[0], values.iloc[-1]
    return int(values.index[first - values >= OVER * (first - last)][0]) if 2 * last < first else None
