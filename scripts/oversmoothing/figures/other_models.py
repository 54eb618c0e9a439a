"""Other people's models as a figure: loss, head and hidden states against steps."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from oversmoothing.figures.style import PALETTE, style
from oversmoothing.others.table import wide

PANELS = {
    "loss_per_byte": ("Loss", "nats per byte"),
    "singular_entropy": ("Singular entropy of the head", "nats"),
    "last_anisotropy": ("Anisotropy of the last inner layer", "mean cosine"),
    "head_input_anisotropy": ("Anisotropy of what enters the head", "mean cosine"),
}
MARKERS = "osD^vP*Xp<>h"
DASHES = ["solid", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1, 1, 1))]


def other_models_figure(table: pd.DataFrame) -> Figure:
    """Draw each measure against steps, a line per model; a revision that names no step is a marker at the right.

    Parameters
    ----------
    table : DataFrame
        As `others.table.other_models_table` gives it.
    """
    rows = wide(table)
    last = 0 if rows.step.isna().all() else int(rows.step.max())
    apart = 12 * max(last, 1)  # where revisions without a step stand
    with style():
        figure = Figure(figsize=(9, 7))
        panels = figure.subplots(2, 2, sharex=True).flat
        for axes, (measure, (title, label)) in zip(panels, PANELS.items(), strict=True):
            for i, (_, own) in enumerate(rows.groupby("model", sort=False)):
                look = _look(i)
                along = own.dropna(subset="step").sort_values("step")
                axes.plot(along.step.astype(float), along[measure], **look)
                alone = own[own.step.isna()]
                axes.plot([apart] * len(alone), alone[measure], **look | {"linestyle": "none"})
            axes.set_title(title)
            axes.set_ylabel(label)
            axes.grid(axis="y", color="0.9")
            _steps(axes, last, apart if rows.step.isna().any() else None)
        for axes in figure.axes[2:]:
            axes.set_xlabel("steps")
        handles = [
            figure.axes[0].plot([], [], label=model, **_look(i))[0] for i, model in enumerate(rows.model.unique())
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 4), frameon=False)
    return figure


def _look(i: int) -> dict:
    return {
        "color": PALETTE[i % len(PALETTE)],
        "marker": MARKERS[i % len(MARKERS)],
        "linestyle": DASHES[i % len(DASHES)],
        "markersize": 7.5 - 1.5 * (i % 3),  # a line that lies on another hides none of its markers
        "linewidth": 1.5,
    }


def _steps(axes: Axes, last: int, apart: int | None) -> None:
    """Scale steps by powers of ten, or of two where there are few, with room for step 0 and for what has no step."""
    axes.set_xscale("symlog", base=10, linthresh=1, linscale=0.4)
    base = 10 if last >= 100 else 2
    ticks = [0, *(base**i for i in range(20) if base**i <= last)] if last or apart is None else []
    labels = [f"{tick // 1000}k" if tick >= 1000 else str(tick) for tick in ticks]
    axes.set_xticks([*ticks, *([] if apart is None else [apart])], [*labels, *([] if apart is None else ["no step"])])
    axes.xaxis.set_minor_locator(NullLocator())
    right = apart or max(last, 1)
    axes.set_xlim(-0.3 if ticks else right / 10, 1.6 * right)
