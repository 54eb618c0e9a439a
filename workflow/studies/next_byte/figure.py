"""Figures 4.1 and 7.1: each model's distribution of the byte after a prompt."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.tables.class_names import BYTES, Names
from oversmoothing.tables.figures.style import RIGHT, WRONG, legend, style, titled
from oversmoothing.tables.page import label
from oversmoothing.tables.visible_bytes import visible

NAMED = 12  # bytes with a bar of their own; the others share one
OF_EACH = 3  # most probable bytes of each model, which are named first
COLUMNS = 3
TRUTH: dict[str, Any] = {"color": "black", "linewidth": 1.6}
LONGEST = 4  # characters of a name that stands upright
OTHERS = "all\nothers"
EXPLAINED = (
    "Lower is better. TTO: probability beyond the truth's on {unit}s outside its nucleus (its likeliest {unit}s); "
    "NSMD: what the nucleus lacks;"
)
AGAINST = "a truth: what models are held against"


def draw(
    p: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    scores: pd.DataFrame,
    prompt: bytes,
    target: int,
    title: str,
    classes: Names = BYTES,
) -> Figure:
    """Draw one panel per model, with the same bytes in the same order on the same scale.

    `p`, shape (v, models), holds one distribution per column, by ``byte``; `models` are in the order of the panels, at
    least one of kind "truth"; `scores` has a row per model and a column per metric, empty where there is no score. TBAT
    is left out of figures of truncated heads, which have none (as in the thesis).
    """
    truth = p[[model["model"] for model in models if model["kind"] == "truth"]].mean(axis=1)
    p = p[[model["model"] for model in models]]
    truncated = any(model["kind"] == "svd" for model in models)
    scores = scores.drop(columns="tbat", errors="ignore") if truncated else scores
    named = named_bytes(p, truth, target)
    rows = -(-len(models) // COLUMNS)
    with style():
        figure = Figure(figsize=(11, 1.9 + 2.25 * rows))
        panels = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False).ravel()
        for axes, model in zip(panels, models, strict=False):
            is_truth = model["kind"] == "truth"
            _panel(axes, p[model["model"]], None if is_truth else truth, named, target, classes)
            name = label(model) + (", not truncated" if truncated and model["kind"] == "family" else "")
            axes.set_title(name, weight="bold", fontsize=10, pad=17, parse_math=False)
            printed = AGAINST if is_truth else _printed(scores.loc[model["model"]])
            axes.text(0, 1.03, printed, transform=axes.transAxes, fontsize=8, parse_math=False)
        for axes in panels[len(models) :]:
            axes.remove()
        for axes in panels[::COLUMNS]:
            axes.set_ylabel("probability")
        titled(figure, title, f"“{visible(prompt)}”, and {classes.name(target)} follows.")
        entries = [
            Patch(label=f"{classes.name(target)}, which follows", **RIGHT),
            Patch(label=f"other {classes.unit}s", **WRONG),
            Line2D([], [], label="the truth" if _one(models) else "mean of the truths", **TRUTH),
        ]
        legend(figure, entries, title=_legend(models, scores, classes.unit), loc="outside lower left", alignment="left")
    return figure


def named_bytes(p: pd.DataFrame, truth: pd.Series, target: int) -> list[int]:
    """Return the bytes that get a bar of their own, the most probable under `truth`, the mean of the truths, first.

    Chosen first is the byte that follows, then the `OF_EACH` most probable bytes of each model and truth, then the
    rest, up to `NAMED`. Within each group, bytes with the highest probability under any model come first.
    """
    highest = p.max(axis=1)
    places = p.rank(ascending=False, method="first").min(axis=1)
    wanted = pd.DataFrame({"target": p.index == target, "top": places <= OF_EACH, "highest": highest}, index=p.index)
    chosen = wanted.sort_values(["target", "top", "highest"], ascending=False, kind="stable").index[:NAMED]
    return [int(byte) for byte in truth[chosen].sort_values(ascending=False, kind="stable").index]


def _panel(axes: Axes, p: pd.Series, truth: pd.Series | None, named: list[int], target: int, classes: Names) -> None:
    heights = [*p[named], p.drop(named).sum()]
    place = np.arange(len(heights))
    for x, height, byte in zip(place, heights, [*named, None], strict=True):
        axes.bar(x, height, width=0.8, linewidth=0, **(RIGHT if byte == target else WRONG))
    if truth is not None:
        axes.hlines([*truth[named], truth.drop(named).sum()], place - 0.46, place + 0.46, **TRUTH)
    at = named.index(target)
    names = [classes.name(byte) for byte in named] + [OTHERS]
    turned = any(len(name) > LONGEST for name in names[:-1])
    axes.set_xticks(place, names, fontsize=8, parse_math=False, rotation=90 if turned else 0)
    red: dict[str, Any] = {"color": RIGHT["facecolor"], "weight": "bold"}
    axes.get_xticklabels()[at].set(**red)
    known = f"{names[at]}: {heights[at]:.3f}"
    axes.text(0.99, 0.99, known, transform=axes.transAxes, ha="right", va="top", fontsize=9, parse_math=False, **red)
    axes.set_xlim(-0.7, len(heights) - 0.3)
    axes.set_ylim(0, 1.16)
    axes.set_yticks([0, 0.5, 1])


def _printed(scores: pd.Series) -> str:
    text = "  ".join(f"{METRICS[metric].name} {value:z.2f}" for metric, value in scores.dropna().items())
    return text.replace("-", "\N{MINUS SIGN}")


def _legend(models: Sequence[Mapping[str, Any]], scores: pd.DataFrame, unit: str) -> str:
    second = "TV and KL (in nats): distance from the truth."
    if "tbat" in scores.columns:
        second += f" TBAT: probability on {unit}s of which the head cannot rule out that the truth gives them none."
    averaged = [METRICS[metric].name for metric in scores if METRICS[metric].formula]
    third = [] if _one(models) else [f"{', '.join(averaged[:-1])} and {averaged[-1]} are means over the truths."]
    return "\n".join([EXPLAINED.format(unit=unit), second, *third])


def _one(models: Sequence[Mapping[str, Any]]) -> bool:
    return sum(model["kind"] == "truth" for model in models) == 1
