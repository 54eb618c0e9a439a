"""TTO against loss at every snapshot of every model, to compare how much ranks leak at equal loss."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from oversmoothing.catalogue.metrics import METRICS
from oversmoothing.dynamics.table import steps
from oversmoothing.figures.style import handles, legend, model_looks, named, rank_look, style, write_figure
from oversmoothing.jobs import Job, run
from oversmoothing.layout import read_csv

LAST: dict[str, Any] = {"marker": "o", "markersize": 12, "mfc": "none", "mec": "black", "linestyle": "none"}


def main(job: Job) -> None:
    """Read the table along training; write the figure."""
    write_figure(draw(read_csv(job.input[0])), job.output)


def draw(table: pd.DataFrame) -> Figure:
    """Draw TTO against loss, one line per model and one panel per truth; the last step is ringed.

    The table is that of `dynamics.table.along_training_table`.
    """
    truths = list(table.truth.dropna().unique())
    models = table[["model", "rank"]].drop_duplicates().to_dict("records")
    unit = table.unit[table.measure == "loss"].iloc[0]
    with style():
        figure = Figure(figsize=(max(7.5, 5 * len(truths)), 5.4))
        panels = figure.subplots(1, len(truths), squeeze=False, sharey=True)[0]
        for axes, truth in zip(panels, truths, strict=True):
            for model in models:
                along = steps(table, model["model"], truth)
                axes.plot(along["loss"], along["tto"], markersize=5, linewidth=1.5, **rank_look(model["rank"]))
                axes.plot(along["loss"].iloc[-1:], along["tto"].iloc[-1:], **LAST)
            axes.set_title(f"Against {named(truth)}")
            axes.set_xlabel(f"loss ({unit}); training goes from right to left")
            axes.grid()
        panels[0].set_ylabel(f"{METRICS['tto'].label} ({METRICS['tto'].unit})")
        legend(figure, handles(model_looks(models), markersize=5) + handles({"last step": LAST}))
    return figure


if __name__ == "__main__":
    run(main)
