"""The table and the figure of how much of the gradient of the logits reaches the trunk, along training."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import (
    handles,
    kind_looks,
    legend,
    rank_look,
    step_axis,
    style,
    titled,
    write_figure,
)
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import read_record
from studies.paired_ranks.gradient import SETTLED, gradient_page, gradient_table, mean_shares

TITLE = "How much of the gradient of the logits reaches the trunk."


def main(job: Job) -> None:
    """Read the measures of all snapshots; write the table and the figure in all formats."""
    settings = job.params.settings
    titles = {kind["kind"]: kind["title"] for kind in settings["kinds"]}
    measured = {Path(path).stem: read_table(path).to_pandas() for path in job.input}
    table = gradient_table(measured, settings["models"], settings["unit"])
    write_record(job.output, table, gradient_page(table, TITLE, titles))
    figure = draw(read_record(job.output.csv), settings["kinds"])
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


def draw(table: pd.DataFrame, kinds: Iterable[Mapping[str, Any]]) -> Figure:
    """Draw the share of the gradient against steps, a line per way and rank, and the final loss against its mean.

    Colours are ranks, line styles and markers ways; a line is the mean over seeds, a point one model.
    """
    kinds = list(kinds)
    of_way, titles = kind_looks(kinds), {kind["kind"]: kind["title"] for kind in kinds}
    table = table.assign(way=table.kind.map(titles))
    share = table[table.measure == "gradient_share"]
    models = mean_shares(table)
    models["way"] = models.kind.map(titles)
    with style():
        figure = Figure(figsize=(10, 4.6))
        left, right = figure.subplots(1, 2)
        for (way, rank), alike in share.groupby(["way", "rank"], sort=False):
            line = alike.groupby("step").value.mean()
            look = {**rank_look(int(rank)), **{key: of_way[way][key] for key in ("linestyle", "marker")}}
            left.plot(line.index, line, markersize=3.5, linewidth=1.3, **look)
            ends = models[(models.way == way) & (models["rank"] == rank)]
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
        ways = {way: {**of_way[way], "color": "0.3"} for way in share.way.unique()}
        ranks = {f"rank {rank}": {"color": rank_look(int(rank))["color"]} for rank in sorted(share["rank"].unique())}
        entries = handles(ways, markersize=6, linewidth=1.3) + handles(ranks, linewidth=4)
        legend(figure, entries, columns=3)
    return figure


if __name__ == "__main__":
    run(main)
