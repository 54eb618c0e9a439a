"""The table and the figure of how much of the gradient of the logits reaches the trunk, along training."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import (
    handles,
    kind_look,
    legend,
    rank_look,
    step_axis,
    style,
    titled,
    write_figure,
)
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.record import read_record
from studies.paired_ranks.gradient import SETTLED, gradient_page, gradient_table, mean_shares

TITLE = "How much of the gradient of the logits reaches the trunk."


def main(job: Job) -> None:
    """Read the measures of all snapshots; write the table and the figure in all formats."""
    settings = job.params.settings
    measured = {Path(path).stem: read_table(path).to_pandas() for path in job.input}
    table = gradient_table(measured, settings["models"], settings["unit"])
    write_record(job.output, table, gradient_page(table, TITLE))
    figure = draw(read_record(job.output.csv))
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


def draw(table: pd.DataFrame) -> Figure:
    """Draw the share of the gradient against steps, a line per way and rank, and the final loss against its mean.

    Colours are ranks, line styles and markers ways; a line is the mean over seeds, a point one model.
    """
    share = table[table.measure == "gradient_share"]
    models = mean_shares(table)
    with style():
        figure = Figure(figsize=(10, 4.6))
        left, right = figure.subplots(1, 2)
        for (kind, rank), alike in share.groupby(["kind", "rank"], sort=False):
            line = alike.groupby("step").value.mean()
            look = {**rank_look(int(rank)), **{key: kind_look(kind)[key] for key in ("linestyle", "marker")}}
            left.plot(line.index, line, markersize=3.5, linewidth=1.3, **look)
            ends = models[(models.kind == kind) & (models["rank"] == rank)]
            right.plot(ends["share"], ends.loss, markersize=6, **{**look, "linestyle": ""})
        step_axis(left, int(share.step.max()))
        left.set_ylim(0, None)
        left.set_title("Share of the logits' gradient, squared, that reaches the trunk", size="medium")
        right.set_title("Final loss against that share", size="medium")
        right.set_xlabel(f"share, mean from step {SETTLED} on")
        right.set_ylabel(f"loss ({table.unit[table.measure == 'loss'].iloc[0]})")
        for axes in (left, right):
            axes.grid(axis="y")
        titled(
            figure,
            "How much of the gradient reaches the trunk, and does the loss follow it?",
            "Lines: means over seeds.",
        )
        ways = {TITLES[kind]: {**kind_look(kind), "color": "0.3"} for kind in share.kind.unique()}
        ranks = {f"rank {rank}": {"color": rank_look(int(rank))["color"]} for rank in sorted(share["rank"].unique())}
        entries = handles(ways, markersize=6, linewidth=1.3) + handles(ranks, linewidth=4)
        legend(figure, entries, columns=3)
    return figure


if __name__ == "__main__":
    run(main)
