"""How models change along training, as figures: measures against steps, and oversmoothing against loss."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from oversmoothing.dynamics.table import last_layer, steps
from oversmoothing.figures.style import style

MARKERS = "osD^vP*Xp<>h"  # so that ranks are told apart without colour


def along_training_figure(table: pd.DataFrame) -> Figure:
    """Draw loss, the head's singular entropy and effective rank, and hidden states against steps, a line per model.

    Parameters
    ----------
    table : DataFrame
        As `dynamics.table.along_training_table` gives it.
    """
    panels = {
        "loss": ("Loss", "nats per byte"),
        "singular_entropy": ("Singular entropy of the head", "nats"),
        "effective_rank": ("Effective rank of the head", "singular values"),
        "head_input_anisotropy": ("Anisotropy of what enters the head", "mean cosine"),
        f"anisotropy {last_layer(table)}": ("Anisotropy of the last block", "mean cosine"),
        f"largest_dimension {last_layer(table)}": ("Largest dimension of the last block", "share of squared length"),
    }
    with style():
        figure = Figure(figsize=(9, 10))
        for axes, (measure, (title, label)) in zip(
            figure.subplots(3, 2, sharex=True).flat, panels.items(), strict=True
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
        for axes in figure.axes[4:]:
            axes.set_xlabel("steps")
        _legend(figure, table)
    return figure


def layers_along_training_figure(table: pd.DataFrame) -> Figure:
    """Draw anisotropy and outlier dimensions of every block against steps: a column per model, a line per block.

    Parameters
    ----------
    table : DataFrame
        As `dynamics.table.along_training_table` gives it. Of several seeds the first is drawn.
    """
    first = table.drop_duplicates("model").drop_duplicates("rank")
    layers = range(1, last_layer(table) + 1)
    colours = sns.color_palette("viridis_r", len(layers) + 1)[1:]
    with style():
        figure = Figure(figsize=(max(7.5, 2.6 * len(first)), 5.6))
        panels = figure.subplots(2, len(first), squeeze=False, sharex=True, sharey="row")
        for column, (model, rank) in enumerate(zip(first.model, first["rank"], strict=True)):
            along = steps(table, model)
            for row, measure in enumerate(("anisotropy", "outlier_dimensions")):
                axes = panels[row, column]
                for layer, colour in zip(layers, colours, strict=True):
                    look = {"color": colour, "marker": MARKERS[(layer - 1) % len(MARKERS)], "markersize": 4}
                    own = along[f"{measure} {layer}"]
                    axes.plot(own.index, own, label=f"block {layer}" if not row + column else None, **look)
                axes.grid(axis="y", color="0.9")
                _steps(axes, int(table.step.max()), 16)
            panels[0, column].set_title(f"rank {rank}")
            panels[1, column].set_xlabel("steps")
        panels[0, 0].set_ylabel("anisotropy (mean cosine)")
        panels[1, 0].set_ylabel("outlier dimensions")
        panels[1, 0].yaxis.set_major_locator(MaxNLocator(integer=True))
        figure.legend(loc="outside lower center", ncols=min(len(layers), 8), frameon=False)
    return figure


def head_spectra_figure(spectra: Mapping[str, pd.DataFrame], models: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the head's singular values at every kept step: a panel per model, a line per step.

    Parameters
    ----------
    spectra : mapping
        From model to ``step``, ``index``, ``singular_value``.
    models : sequence of mappings
        ``model`` and ``rank`` of each; of several seeds the first is drawn.
    """
    first = {model["rank"]: model["model"] for model in reversed(models)}
    ranks = sorted(first)
    columns = min(len(ranks), 3)
    shown = sorted({step for model in first.values() for step in spectra[model]["step"]})
    colours = dict(zip(shown, sns.color_palette("viridis_r", len(shown)), strict=True))
    with style():
        figure = Figure(figsize=(max(7.5, 3.3 * columns), 1.2 + 2.9 * math.ceil(len(ranks) / columns)))
        panels = list(figure.subplots(math.ceil(len(ranks) / columns), columns, squeeze=False).flat)
        for axes, rank in zip(panels, ranks, strict=False):
            for step, own in spectra[first[rank]].groupby("step"):
                style_of = {"lw": 2.4} if step == shown[-1] else {"lw": 1.0}
                axes.plot(own["index"], own.singular_value, color=colours[step], label=f"step {step}", **style_of)
            axes.set_yscale("log")
            axes.set_title(f"rank {rank}")
            axes.set_xlabel("index of the singular value")
            axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
            axes.grid(axis="y", color="0.9")
        for axes in panels[len(ranks) :]:
            axes.remove()
        figure.axes[0].set_ylabel("singular value of the head W")
        handles, labels = figure.axes[-1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
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


def _steps(axes: Axes, last: int, apart: int = 4) -> None:
    """Scale steps by powers of two, with room for step 0."""
    axes.set_xscale("symlog", base=2, linthresh=1)
    powers = [apart**i for i in range(20) if apart**i <= last]
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
