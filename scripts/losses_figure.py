"""Figure 3.1: training and validation loss of every model along its training."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import handles, legend, model_looks, step_axis, style, titled, write_figure
from oversmoothing.tables.page import label

KINDS = {"train_loss": "Training text", "validation_loss": "Validation text"}


def main(job: Job) -> None:
    """Read the histories; write the figure."""
    settings, models = job.params.settings, job.params.settings["models"]
    columns = ["step", *KINDS]
    histories = {
        model["model"]: read_table(path, columns).to_pandas() for model, path in zip(models, job.input, strict=True)
    }
    write_figure(draw(histories, models, settings["truths"], settings["unit"]), job.output)


def draw(
    histories: Mapping[str, pd.DataFrame],
    models: Sequence[Mapping[str, Any]],
    truths: Sequence[str],
    unit: str = "byte",
) -> Figure:
    """Draw training and validation loss against steps, one panel each and one line per model.

    The loss before the first step is left out, which is so high that the lines could not be distinguished.
    """
    looks = model_looks(models, truths)
    last = max(int(history.step.max()) for history in histories.values())
    with style():
        figure = Figure(figsize=(9, 4.4))
        panels = figure.subplots(1, 2, sharex=True, sharey=True)
        for axes, (column, title) in zip(panels, KINDS.items(), strict=True):
            for model in models:
                history = histories[model["model"]].query("step > 0").dropna(subset=column)
                axes.plot(history.step, history[column], markersize=3.5, linewidth=1.5, **looks[label(model)])
            axes.set_title(title)
            axes.grid(axis="y")
            step_axis(axes, last, linear=True)
        panels[0].set_ylabel(f"loss (nats per {unit}), lower is better")
        titled(figure, "How well does each rank learn the text?", "On the training text, and on text held out.")
        legend(figure, handles(looks, markersize=3.5), columns=8)
    return figure


if __name__ == "__main__":
    run(main)
