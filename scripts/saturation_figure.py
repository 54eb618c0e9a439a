"""Beyond the thesis: losses along training, the law of them, and where each model leaves it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from oversmoothing.figures.style import style, write_figure
from oversmoothing.jobs import run
from oversmoothing.saturation.table import leaves
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

MARKERS = "osD^vP*Xp<>h"  # so that models are told apart without colour
LAW: dict[str, Any] = {"color": "black", "linewidth": 1.2, "linestyle": (0, (4, 2))}
BAND: dict[str, Any] = {"color": "0.75", "alpha": 0.7, "linewidth": 0}
RING: dict[str, Any] = {"marker": "o", "markersize": 13, "mfc": "none", "mec": "black", "linestyle": "none"}


def main(job: "Snakemake") -> None:
    """Read the law and the points; write the figure as PNG and SVG."""
    law, points = (read_table(path).to_pandas() for path in (job.input.law, job.input.points))
    write_figure(draw(law, points, job.params.settings["models"]), job.output)


def draw(law: pd.DataFrame, points: pd.DataFrame, models: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the losses of each model, the law at its size with its band, and a ring where the model leaves it.

    Parameters
    ----------
    law, points : DataFrame
        Of schemas `measure.LAW` and `measure.POINTS`.
    models : sequence of mappings
        ``model``, ``rank``, ``seed``, in the order of the legend.
    """
    looks = _looks(models)
    with style():
        figure = Figure(figsize=(8.5, 5.6))
        axes = figure.subplots()
        for _, own in points[points.extrapolated.notna()].groupby("parameters"):
            curve = own.drop_duplicates("seen").sort_values("seen")
            axes.fill_between(curve.seen, curve.low, curve.high, zorder=1, **BAND)
            axes.plot(curve.seen, curve.extrapolated, zorder=4, **LAW)
        for model in models:
            own = points[points.model == model["model"]]
            look = looks[model["model"]]
            axes.plot(own.seen, own.loss, zorder=3, **look, mfc="white", linewidth=0.8)
            late = own[own.compared]
            axes.plot(late.seen, late.loss, zorder=3, **look, linestyle="none")
            first = leaves(late.loss.to_numpy(), late.high.to_numpy()) if late.high.notna().any() else None
            if first is not None:
                axes.plot(late.seen.iloc[first], late.loss.iloc[first], zorder=5, **RING)
        _frame(axes, points, str(law.note.iloc[0]))
        figure.legend(
            handles=_handles(models, points, looks), loc="outside lower center", ncols=4, frameon=False, fontsize=9
        )
    return figure


def _looks(models: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Give each rank, and each model that has none, a colour and a marker of its own."""
    kinds = list(dict.fromkeys(_label(model) for model in models))
    colours = sns.color_palette("plasma_r", len(kinds) + 2)[1:-1]
    by = {
        kind: {"color": colour, "marker": MARKERS[i % len(MARKERS)], "markersize": 5.5}
        for i, (kind, colour) in enumerate(zip(kinds, colours, strict=True))
    }
    return {model["model"]: by[_label(model)] for model in models}


def _label(model: Mapping[str, Any]) -> str:
    return str(model["model"]) if model["rank"] is None else f"rank {model['rank']}"


def _frame(axes: Axes, points: pd.DataFrame, note: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    unit = points.unit.iloc[0]
    axes.set_xlabel(f"T: {unit} of text seen in training")
    axes.set_ylabel("loss (nats per byte)" if unit == "bytes" else "loss")
    axes.set_title(f"N{note[1:]}" if note.startswith("no fit") else "Losses along training, and the law", wrap=True)
    axes.grid(color="0.92")
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(_amount))
    low, high = float(points.loss.min()), float(points.loss.max())
    axes.set_ylim(low / 1.06, high * 1.06)
    axes.set_yticks(_ticks(low, high))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_minor_locator(NullLocator())


def _ticks(low: float, high: float) -> np.ndarray:
    """Give round losses within a range, about seven of them."""
    step = 10.0 ** np.floor(np.log10(high - low)) if high > low else 1.0
    for part in (0.1, 0.2, 0.5, 1.0, 2.0):
        ticks = part * step * np.arange(np.ceil(low / 1.06 / (part * step)), np.floor(high * 1.06 / (part * step)) + 1)
        if len(ticks) <= 8:
            break
    return ticks


def _amount(value: float, _: int) -> str:
    for size, word in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g} {word}"
    return f"{value:g}"


def _handles(
    models: Sequence[Mapping[str, Any]], points: pd.DataFrame, looks: Mapping[str, dict[str, Any]]
) -> list[Any]:
    fitted = set(points.model[points.fitted & points.extrapolated.notna()])
    seen: dict[str, Line2D] = {}
    for model in models:
        label = _label(model) + (" (fitted)" if model["model"] in fitted else "")
        seen.setdefault(label, Line2D([], [], linewidth=0.8, label=label, **looks[model["model"]]))
    handles: list[Any] = list(seen.values())
    if not points.compared.all():
        early: dict[str, Any] = {"marker": "o", "markersize": 5.5, "mfc": "white", "color": "0.3", "linestyle": "none"}
        handles.append(Line2D([], [], label="hollow: too early to count", **early))
    if points.extrapolated.notna().any():
        handles.append(Line2D([], [], label="the law at a model's size", **LAW))
        handles.append(Patch(label="where 95 % of such losses lie", **BAND))
        handles.append(Line2D([], [], label="from here on above it", **RING))
    return handles


if __name__ == "__main__":
    run(main, snakemake)
