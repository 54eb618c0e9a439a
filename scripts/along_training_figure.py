"""Loss, the head's spectrum and the geometry of hidden states against steps, one line per rank."""

import pandas as pd
from matplotlib.figure import Figure

from oversmoothing.dynamics.table import last_layer, steps
from oversmoothing.figures.style import handles, legend, model_looks, rank_look, step_axis, style, write_figure
from oversmoothing.jobs import Job, run
from oversmoothing.layout import read_csv


def main(job: Job) -> None:
    """Read the table along training; write the figure."""
    write_figure(draw(read_csv(job.input[0])), job.output)


def draw(table: pd.DataFrame) -> Figure:
    """Six measures against steps, one line per model, from `dynamics.table.along_training_table`."""
    panels = {
        "loss": ("Loss", table.unit[table.measure == "loss"].iloc[0]),
        "singular_entropy": ("Singular entropy of the head", "nats"),
        "effective_rank": ("Effective rank of the head", "singular values"),
        "head_input_anisotropy": ("Anisotropy of what enters the head", "mean cosine"),
        f"anisotropy {last_layer(table)}": ("Anisotropy of the last block", "mean cosine"),
        f"largest_dimension {last_layer(table)}": ("Largest dimension of the last block", "share of squared length"),
    }
    models = table[["model", "rank"]].drop_duplicates().to_dict("records")
    with style():
        figure = Figure(figsize=(9, 10))
        for axes, (measure, (title, label)) in zip(
            figure.subplots(3, 2, sharex=True).flat, panels.items(), strict=True
        ):
            for model in models:
                along = steps(table, model["model"])[measure]
                axes.plot(along.index, along, markersize=5, linewidth=1.5, **rank_look(model["rank"]))
            axes.set_title(title)
            axes.set_ylabel(label)
            axes.grid(axis="y")
            step_axis(axes, int(table.step.max()))
        figure.axes[2].set_yscale("log")
        figure.axes[2].yaxis.set_major_formatter("{x:g}")
        legend(figure, handles(model_looks(models), markersize=5))
    return figure


if __name__ == "__main__":
    run(main)
