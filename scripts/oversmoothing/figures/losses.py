"""How training went, as a figure: losses against steps (thesis Figure 3.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.figures.style import style

KINDS = {"train_loss": "Training", "validation_loss": "Validation"}
TRUTH: dict[str, Any] = {"color": "0.35", "linestyle": (0, (4, 2))}


def losses_figure(histories: Mapping[str, pd.DataFrame], models: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw training and validation loss of every model along its training.

    Parameters
    ----------
    histories : mapping
        From model to its history: ``step``, ``train_loss``, ``validation_loss``, in nats per byte.
    models : sequence of mappings
        ``model``, ``rank``, ``kind`` ("family" or "truth") of each, in the order of the legend.
    """
    ranks = list(dict.fromkeys(model["rank"] for model in models if model["kind"] == "family"))
    colours = dict(zip(ranks, sns.color_palette("plasma_r", len(ranks) + 2)[1:-1], strict=True))
    with style():
        figure = Figure(figsize=(9, 4.2))
        panels = figure.subplots(1, 2, sharex=True, sharey=True)
        for axes, (column, title) in zip(panels, KINDS.items(), strict=True):
            for model in models:
                look = TRUTH if model["kind"] == "truth" else {"color": colours[model["rank"]]}
                _line(axes, histories[model["model"]], column, look)
            axes.set_title(title)
            axes.set_xlabel("steps")
            axes.grid(axis="y", color="0.9")
        panels[0].set_ylabel("loss (nats per byte)")
        handles = [
            panels[1].plot([], [], color=colour, marker="o", markersize=3, label=f"rank {rank}")[0]
            for rank, colour in colours.items()
        ]
        for model in models:
            if model["kind"] == "truth":
                handles += panels[1].plot([], [], marker="o", markersize=3, label=model["model"], **TRUTH)
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize="small")
    return figure


def _line(axes: Axes, history: pd.DataFrame, column: str, look: Mapping[str, Any]) -> None:
    own = history.dropna(subset=column)
    axes.plot(own.step, own[column], marker="o", markersize=2.5, linewidth=1.5, **look)
