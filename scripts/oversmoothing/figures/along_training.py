"""How models change along training, as figures: measures against steps, and oversmoothing against loss."""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from oversmoothing.dynamics.table import last_layer, steps
from oversmoothing.figures.style import style

MARKERS = "osD^vP*Xp<>h"  # so that ranks are told apart without colour


def along_training_figure(table: pd.DataFrame) -> Figure:
    """Draw loss, singular entropy, effective rank and the last block's anisotropy against steps, a line per model.

    Parameters
    ----------
    table : DataFrame
        As `dynamics.table.along_training_table` gives it.
    """
    panels = {
        "loss": ("Loss", "nats per byte"),
        "singular_entropy": ("Singular entropy of the head", "nats"),
        "effective_rank": ("Effective rank of the head", "singular values"),
        f"anisotropy {last_layer(table)}": ("Anisotropy of the last block", "mean cosine"),
    }
    with style():
        figure = Figure(figsize=(9, 7))
        for axes, (measure, (title, label)) in zip(
            figure.subplots(2, 2, sharex=True).flat, panels.items(), strict=True
        ):
            for model, look in _looks(table).items():
                along = steps(table, model)[measure]
                axes.plot(along.index, along, **look)
            axes.set_title(title)
            axes.set_ylabel(label)
            axes.grid(axis="y", color="0.9")
            _steps(axes, int(table.step.max()))
        figure.axes[2].set_yscale("log")
        figure.axes[2].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        for axes in figure.axes[2:]:
            axes.set_xlabel("steps")
        _legend(figure, table)
    return figure


def oversmoothing_against_loss_figure(table: pd.DataFrame) -> Figure:
    """Draw TTO against loss at every kept step, a line per model and a panel per truth; the last step is ringed.

    Parameters
    ----------
    table : DataFrame
        As `dynamics.table.along_training_table` gives it.
    """
    truths = list(table.truth.dropna().unique())
    with style():
        figure = Figure(figsize=(max(7.5, 5 * len(truths)), 5.4))
        panels = figure.subplots(1, len(truths), squeeze=False, sharey=True)[0]
        for axes, truth in zip(panels, truths, strict=True):
            for model, look in _looks(table).items():
                along = steps(table, model, truth)
                axes.plot(along["loss"], along["tto"], **look)
                axes.plot(along["loss"].iloc[-1:], along["tto"].iloc[-1:], "o", ms=12, mfc="none", mec="black")
            axes.set_title(f"Against {truth}")
            axes.set_xlabel("loss (nats per byte); training goes from right to left")
            axes.grid(color="0.9")
        panels[0].set_ylabel("TTO (probability)")
        _legend(figure, table, {"label": "last step", "marker": "o", "mfc": "none", "mec": "black", "ls": "none"})
    return figure


def _looks(table: pd.DataFrame) -> dict[str, dict]:
    """Give each model the colour and the marker of its rank."""
    ranks = list(table["rank"].unique())
    colours = sns.color_palette("plasma_r", len(ranks) + 2)[1:-1]
    looks = {
        rank: {"color": colour, "marker": MARKERS[i % len(MARKERS)], "markersize": 5, "linewidth": 1.5}
        for i, (rank, colour) in enumerate(zip(ranks, colours, strict=True))
    }
    first = table.drop_duplicates("model")
    return {model: looks[rank] for model, rank in zip(first.model, first["rank"], strict=True)}


def _steps(axes: Axes, last: int) -> None:
    """Scale steps by powers of two, with room for step 0."""
    axes.set_xscale("symlog", base=2, linthresh=1)
    powers = [4**i for i in range(20) if 4**i <= last]
    axes.set_xticks([0, *powers], ["0", *map(str, powers)])
    axes.xaxis.set_minor_locator(NullLocator())


def _legend(figure: Figure, table: pd.DataFrame, extra: dict | None = None) -> None:
    axes = figure.axes[-1]
    looks = _looks(table)
    ranks = table.drop_duplicates("rank")
    handles = [
        axes.plot([], [], label=f"rank {rank}", **looks[model])[0]
        for model, rank in zip(ranks.model, ranks["rank"], strict=True)
    ]
    if extra:
        handles += axes.plot([], [], markersize=12, **extra)
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 6), frameon=False)
