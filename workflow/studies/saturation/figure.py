"""Figure of losses along training, the law fitted to them, and where each model leaves it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator

from oversmoothing.tables.figures.style import Looks, handles, legend, model_looks, style, titled
from oversmoothing.tables.page import label
from studies.saturation.law import leaves

LOSSES: dict[str, Any] = {"markersize": 5.5, "linewidth": 0.8}
LAW: dict[str, Any] = {"color": "0.45", "linewidth": 1.6, "linestyle": "-"}
BAND: dict[str, Any] = {"color": "0.75", "alpha": 0.7, "linewidth": 0}
RING: dict[str, Any] = {"marker": "o", "markersize": 13, "mfc": "none", "mec": "black", "linestyle": "none"}


def draw(law: pd.DataFrame, points: pd.DataFrame, models: Sequence[Mapping[str, Any]], truths: Sequence[str]) -> Figure:
    """Draw each model's losses, the law at its size with a 95 % band, and a ring where the model leaves the law.

    `law` and `points` have the schemas `measure.LAW` and `measure.POINTS`; `models` are in the order of the legend.
    """
    models = [{**model, "kind": "truth" if model["model"] in truths else "family"} for model in models]
    looks = model_looks(models, truths)
    with style():
        figure = Figure(figsize=(8.5, 5.6))
        axes = figure.subplots()
        for _, of_size in points[points.extrapolated.notna()].groupby("parameters"):
            curve = of_size.drop_duplicates("seen").sort_values("seen")
            axes.fill_between(curve.seen, curve.low, curve.high, zorder=1, **BAND)
            axes.plot(curve.seen, curve.extrapolated, zorder=4, **LAW)
        for model in models:
            measured = points[points.model == model["model"]]
            look = {**looks[label(model)], **LOSSES, "zorder": 3}
            axes.plot(measured.seen, measured.loss, **look, mfc="white")
            late = measured[measured.compared]
            axes.plot(late.seen, late.loss, **{**look, "linestyle": "none"})
            first = leaves(late.loss.to_numpy(), late.high.to_numpy())
            if first is not None:
                axes.plot(late.seen.iloc[first], late.loss.iloc[first], zorder=5, **RING)
        _frame(axes, points)
        note = str(law.note.iloc[0])
        answer = f"N{note[1:]}" if note.startswith("no fit") else "A model saturates where its loss leaves the band."
        titled(figure, "Does a small model's loss leave the scaling law of larger ones as it learns?", answer)
        legend(figure, _entries(models, points, looks), columns=4)
    return figure


def _frame(axes: Axes, points: pd.DataFrame) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    unit = points.unit.iloc[0]
    axes.set_xlabel(f"T: {unit} of text seen in training")
    axes.set_ylabel("loss (nats per byte), lower is better" if unit == "bytes" else "loss, lower is better")
    axes.grid()
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(EngFormatter())
    low, high = float(points.loss.min()), float(points.loss.max())
    axes.set_ylim(low / 1.06, high * 1.06)
    axes.yaxis.set_major_locator(MaxNLocator(7))
    axes.yaxis.set_major_formatter("{x:.4g}")
    axes.yaxis.set_minor_locator(NullLocator())


def _entries(models: Sequence[Mapping[str, Any]], points: pd.DataFrame, looks: Looks) -> list[Any]:
    fitted = set(points.model[points.fitted & points.extrapolated.notna()])
    marked = {label(model) for model in models if model["model"] in fitted}
    named = {name + (" (fitted)" if name in marked else ""): look for name, look in looks.items()}
    entries: list[Any] = handles(named, **LOSSES)
    if not points.compared.all():
        early = {"color": "0.3", "marker": "o", "linestyle": "none", "markersize": 5.5, "mfc": "white"}
        entries += handles({"hollow: too early to count": early})
    if points.extrapolated.notna().any():
        entries += handles({"the law at a model's size": LAW})
        entries.append(Patch(label="where 95 % of such losses lie", **BAND))
        entries += handles({"above it from this point on": RING})
    return entries
