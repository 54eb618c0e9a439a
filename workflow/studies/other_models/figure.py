"""Other people's models: loss, singular entropy and anisotropy against steps, one line per model."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from oversmoothing.tables.figures.style import handles, legend, other_look, step_axis, style, titled
from studies.other_models.table import wide

PANELS = {
    "loss_per_byte": ("Loss ↓", "nats per byte"),
    "singular_entropy": ("Singular entropy of the head", "nats; 0: flat"),
    "last_anisotropy": ("Anisotropy of the last inner layer", "mean cosine"),
    "head_input_anisotropy": ("Anisotropy of what enters the head", "mean cosine"),
}


def draw(table: pd.DataFrame) -> Figure:
    """Draw each measure against steps, one line per model; a revision without a step is a marker at the right.

    The table is that of `other_models_table`.
    """
    rows = wide(table)
    last = 0 if rows.step.isna().all() else int(rows.step.max())
    beyond = 12 * max(last, 1) if rows.step.isna().any() else None
    looks = {model: _look(i) for i, model in enumerate(rows.model.unique())}
    with style():
        figure = Figure(figsize=(9, 7))
        panels = figure.subplots(2, 2, sharex=True).flat
        for axes, (measure, (title, label)) in zip(panels, PANELS.items(), strict=True):
            for model, look in looks.items():
                of_model = rows[rows.model == model]
                along = of_model.dropna(subset="step").sort_values("step")
                axes.plot(along.step.astype(float), along[measure], **look)
                alone = of_model[of_model.step.isna()]
                axes.plot([beyond] * len(alone), alone[measure], **look | {"linestyle": "none"})
            axes.set_title(title)
            axes.set_ylabel(label)
            axes.grid(axis="y")
            step_axis(axes, last, beyond=beyond)
        titled(
            figure,
            "Do small models of others saturate as they learn?",
            "One line per model; anisotropy near 1: all hidden states point one way.",
        )
        legend(figure, handles(looks), columns=4)
    return figure


def _look(i: int) -> dict[str, Any]:
    """Look of the i-th model, chosen so that overlapping lines do not hide each other's markers."""
    return {**other_look(i), "markersize": 7.5 - 1.5 * (i % 3), "linewidth": 1.5}
