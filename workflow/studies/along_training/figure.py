"""Figures along training: loss, head, hidden states and every block, oversmoothing, what the head forces."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from oversmoothing.claims.story.answers import at
from oversmoothing.tables.figures.style import (
    PALETTE,
    handles,
    legend,
    model_looks,
    named,
    ordered_looks,
    rank_look,
    step_axis,
    style,
    titled,
)
from oversmoothing.tables.page import label
from studies.along_training.finding import finding
from studies.along_training.table import steps, without_layers

RING: dict[str, Any] = {"marker": "o", "markersize": 13, "mfc": "none", "mec": "black", "linestyle": "none"}
OWN = {
    "loss": ("Loss ↓", ""),  # in the unit of the table
    "singular_entropy": ("Head: singular entropy", "nats (0: all used equally)"),
    "effective_rank": ("Head: effective rank", "dimensions that it uses"),
    "head_input_anisotropy": ("What enters the head: anisotropy", "mean cosine (1: all alike)"),
    "anisotropy": ("Last block: anisotropy", "mean cosine (1: all alike)"),
    "largest_dimension": ("Last block: largest dimension", "share of the squared length"),
}
OTHERS = {
    "loss_per_byte": OWN["loss"],
    "singular_entropy": OWN["singular_entropy"],
    "anisotropy": ("Last inner layer: anisotropy", "mean cosine (1: all alike)"),
    "head_input_anisotropy": OWN["head_input_anisotropy"],
}
OF_BLOCKS = {
    "anisotropy": "anisotropy (mean cosine;\n1: all states point one way)",
    "outlier_dimensions": "outlier dimensions\n(far larger than the others)",
}
COLUMNS = 5
STEPS = 6  # lines in a panel of singular values, from the first step to the last
OF_OWN = (
    "How do loss, head and hidden states change as a model learns?",
    "One line per model. Where small models saturate, Godey et al. (2024) saw anisotropy and entropy rise.",
)
OF_OTHERS = (
    "Do small models of others saturate as they learn?",
    "One line per model; anisotropy near 1: all hidden states point one way.",
)
OVER = 0.9  # of a fall
PARTS: dict[str, dict[str, Any]] = {
    "forced": {"color": PALETTE[3], "marker": "D", "linestyle": "-"},
    "rest": {"color": "0.45", "marker": "o", "linestyle": (0, (4, 1.5))},
}


def courses(table: pd.DataFrame) -> Figure:
    """Draw measures against steps, one line per model, from `table.along_training_table`.

    Of other people's models, a revision without a step is a marker at the right.
    """
    panels, told = (OTHERS, OF_OTHERS) if table.revision.notna().any() else (OWN, OF_OWN)
    models, rows = _models(table), without_layers(table)
    last = int(table.step.fillna(0).max())
    beyond = 12 * max(last, 1) if table.step.isna().any() else None
    looks = model_looks(models)
    with style():
        figure = Figure(figsize=(9, 1 + 1.5 * len(panels)))
        places = figure.subplots(len(panels) // 2, 2, sharex=True).flat
        for axes, (measure, (title, unit)) in zip(places, panels.items(), strict=True):
            for model in models:
                own = rows[(rows.model == model["model"]) & (rows.measure == measure)].sort_values("step")
                look = {**looks[label({"kind": "family", **model})], "markersize": 5, "linewidth": 1.5}
                for alone, points in own.groupby(own.step.isna()):
                    joined = {"linestyle": "none"} if alone else {}
                    axes.plot(points.step.astype(float).fillna(beyond), points.value, **look | joined)
            axes.set_title(title)
            axes.set_ylabel(unit or _unit(table, measure))
            axes.grid(axis="y")
            step_axis(axes, last, beyond=beyond)
            if measure == "effective_rank":
                _log(axes)
        titled(figure, *told)
        legend(figure, handles(looks, markersize=5))
    return figure


def against_loss(table: pd.DataFrame) -> Figure:
    """Draw TTO against loss, one line per model and one panel per truth, below `finding`; the last step is ringed."""
    truths = list(table.truth.dropna().unique())
    models = _models(table)
    with style():
        figure = Figure(figsize=(max(7.5, 5 * len(truths)), 5.4))
        panels = figure.subplots(1, len(truths), squeeze=False, sharey=True)[0]
        for axes, truth in zip(panels, truths, strict=True):
            for model in models:
                by_step = steps(table, model["model"], truth)
                axes.plot(by_step["loss"], by_step["tto"], markersize=5, linewidth=1.5, **rank_look(model["rank"]))
                axes.plot(by_step["loss"].iloc[-1:], by_step["tto"].iloc[-1:], **RING)
            axes.set_title(f"Against {named(truth)}")
            axes.set_xlabel(f"loss ({_unit(table)}); training goes from right to left")
            axes.grid()
        panels[0].set_ylabel("TTO: probability that leaks, lower is better")
        titled(figure, "Do models of equal loss leak alike, whatever their rank?", finding(table))
        legend(figure, handles(model_looks(models), markersize=5) + handles({"last step": RING}))
    return figure


def layers(table: pd.DataFrame) -> Figure:
    """Draw two measures of every block against steps: one column per rank, one line per block, first seed only."""
    first = table.drop_duplicates("model").drop_duplicates("rank").sort_values("rank")
    looks = ordered_looks(range(1, int(table.layer.max()) + 1))
    with style():
        figure = Figure(figsize=(max(7.5, 2.6 * len(first)), 5.6))
        panels = figure.subplots(len(OF_BLOCKS), len(first), squeeze=False, sharex=True, sharey="row")
        for column, (model, rank) in enumerate(zip(first.model, first["rank"], strict=True)):
            by_step = steps(table, model)
            for axes, measure in zip(panels[:, column], OF_BLOCKS, strict=True):
                for layer, look in looks.items():
                    values = by_step[f"{measure} {layer}"]
                    axes.plot(values.index, values, markersize=4, **look)
                axes.grid(axis="y")
                step_axis(axes, int(table.step.max()), narrow=True)
            panels[0, column].set_title(f"rank {rank}")
        for axes, name in zip(panels[:, 0], OF_BLOCKS.values(), strict=True):
            axes.set_ylabel(name)
        panels[1, 0].yaxis.set_major_locator(MaxNLocator(integer=True))
        titled(
            figure,
            "Which blocks make hidden states alike as a model learns?",
            "A column per rank, a line per block of the model, later ones darker.",
        )
        blocks = {f"block {layer}": look for layer, look in looks.items()}
        legend(figure, handles(blocks, markersize=4), columns=8)
    return figure


def spectra(by_model: Mapping[str, pd.DataFrame], models: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw singular values against their index: one panel per rank, a line for each of a few steps, first seed only."""
    first = {model["rank"]: model["model"] for model in reversed(models)}
    columns = min(len(first), COLUMNS)
    rows = math.ceil(len(first) / columns)
    kept = sorted({step for model in first.values() for step in by_model[model]["step"]})
    shown = [kept[round(i * (len(kept) - 1) / (STEPS - 1))] for i in range(STEPS)] if len(kept) > STEPS else kept
    looks = {
        step: {"color": look["color"], "linewidth": 3 if step == shown[-1] else 1.8}
        for step, look in ordered_looks(shown).items()
    }
    with style():
        figure = Figure(figsize=(max(7.5, 2.7 * columns), 1.5 + 2.9 * rows))
        panels = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, rank in zip(panels, sorted(first), strict=False):
            values = by_model[first[rank]]
            for step, look in looks.items():
                line = values[values.step == step]
                axes.plot(line["index"], line.singular_value, **look)
            _log(axes)
            axes.set_title(f"rank {rank}")
            axes.set_xlabel("index of the singular value")
            axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
            axes.grid(axis="y")
        for axes in panels[len(first) :]:
            axes.remove()
        figure.supylabel("singular value of the head W")
        titled(
            figure,
            "Does the head come to use all its dimensions equally as a model learns?",
            "All singular values of the head, the largest first; a flat line: equally, a steep one: few of them.",
        )
        legend(figure, handles({f"step {step:,}": look for step, look in looks.items()}))
    return figure


def forced(table: pd.DataFrame) -> Figure:
    """Draw the forced part and the rest against steps: one column per rank, one row per truth, one line per seed."""
    divided = table[table.measure.isin(PARTS)]
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
                _log(axes)
                axes.grid(axis="y")
                step_axis(axes, int(divided.step.max()), narrow=True)
            row[0].set_ylabel(f"KL to {named(truth) if len(truths) > 1 else 'the truth'} (nats), lower is better")
        titled(figure, "When does what the head forces stop falling, and when the rest?", which_ends_first(divided))
        entries = handles({"forced by the head": PARTS["forced"], "the rest": PARTS["rest"]}, markersize=5)
        legend(figure, entries + handles({f"its fall is over, but for {100 * (1 - OVER):.0f} %": RING}))
    return figure


def _lines(axes: Axes, along: pd.DataFrame) -> None:
    for part, look in PARTS.items():
        values = along[part]
        positive = values.where(values > 0)  # on a logarithmic scale
        axes.plot(positive.index, positive, markersize=4, linewidth=1.5, **look)
        if (step := over_at(values)) is not None:
            axes.plot([step], [values[step]], **RING)


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
            sentences.append(f"{order} that of the rest {at(ranks)}")
    if not sentences:
        return "The forced part and the rest along training"
    return f"The fall of the forced part is over {', '.join(sentences)}"


def over_at(values: pd.Series) -> int | None:
    """Return the first step at which a measure, by step, has lost the share `OVER` of all it loses.

    None if half stays.
    """
    values = values.sort_index()
    first, last = values.iloc[0], values.iloc[-1]
    return int(values.index[first - values >= OVER * (first - last)][0]) if 2 * last < first else None


def _log(axes: Axes) -> None:
    """Use a logarithmic y axis with some ticks even where it spans less than a decade."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())


def _models(table: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return names and ranks of models, the rank None where there is none."""
    return table[["model", "rank"]].drop_duplicates().astype(object).replace({pd.NA: None}).to_dict("records")


def _unit(table: pd.DataFrame, measure: str = "loss") -> str:
    return str(table.unit[table.measure == measure].iloc[0])
