"""Anisotropy and outlier dimensions of every block against steps, one column per rank."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from oversmoothing.dynamics.table import last_layer, steps
from oversmoothing.figures.style import handles, legend, ordered_looks, step_axis, style, write_figure
from oversmoothing.jobs import Job, run
from oversmoothing.layout import read_csv

PANELS = {"anisotropy": "anisotropy (mean cosine)", "outlier_dimensions": "outlier dimensions"}


def main(job: Job) -> None:
    """Read the table along training; write the figure."""
    write_figure(draw(read_csv(job.input[0])), job.output)


def draw(table: pd.DataFrame) -> Figure:
    """Draw two measures of every block against steps: one column per rank, one line per block, first seed only.

    The table is that of `dynamics.table.along_training_table`.
    """
    first = table.drop_duplicates("model").drop_duplicates("rank").sort_values("rank")
    looks = ordered_looks(range(1, last_layer(table) + 1))
    with style():
        figure = Figure(figsize=(max(7.5, 2.6 * len(first)), 5.6))
        panels = figure.subplots(len(PANELS), len(first), squeeze=False, sharex=True, sharey="row")
        for column, (model, rank) in enumerate(zip(first.model, first["rank"], strict=True)):
            along = steps(table, model)
            for axes, measure in zip(panels[:, column], PANELS, strict=True):
                for layer, look in looks.items():
                    own = along[f"{measure} {layer}"]
                    axes.plot(own.index, own, markersize=4, **look)
                axes.grid(axis="y")
                step_axis(axes, int(table.step.max()), narrow=True)
            panels[0, column].set_title(f"rank {rank}")
        for axes, name in zip(panels[:, 0], PANELS.values(), strict=True):
            axes.set_ylabel(name)
        panels[1, 0].yaxis.set_major_locator(MaxNLocator(integer=True))
        blocks = {f"block {layer}": look for layer, look in looks.items()}
        legend(figure, handles(blocks, markersize=4), columns=8)
    return figure


if __name__ == "__main__":
    run(main)
