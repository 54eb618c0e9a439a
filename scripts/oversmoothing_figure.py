"""Oversmoothing against rank, beside the thesis's (Tables 4.1 and 4.2)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.catalogue.metrics import METRICS
from oversmoothing.figures.style import handles, legend, named, rank_axis, rank_look, style, write_figure
from oversmoothing.jobs import run
from oversmoothing.layout import read_csv
from oversmoothing.score_tables import finding

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake

MEASURED: dict[str, Any] = {"color": "0.45", "linewidth": 1.5, "zorder": 1.8}
PUBLISHED: dict[str, Any] = {
    **{"color": "0.55", "linewidth": 1.2, "linestyle": (0, (3, 2)), "zorder": 1.7},
    **{"marker": "o", "markersize": 5, "markerfacecolor": "white"},
}
BY_NAME: dict[str, Any] = {"color": "black", "marker": "o", "linestyle": "none"}
COLUMNS = 5


def main(job: "Snakemake") -> None:
    """Read the main table; write the figure."""
    write_figure(draw(read_csv(job.input[0], dtype={"published_model": str})), job.output)


def draw(table: pd.DataFrame) -> Figure:
    """Draw each metric's mean and 95 % interval against rank, a panel for each metric and truth.

    The table is that of `score_tables.score_table`; every model has a point, with the look of its rank, and the line
    joins the means of the ranks. The thesis's values stand at its own ranks. Where a model has no known rank, such as
    one from the hub, the models stand side by side by name.
    """
    if table["rank"].isna().any():
        return _by_name(table)
    panels = list(table.groupby(["truth", "metric"], sort=False, dropna=False))
    rows = -(-len(panels) // COLUMNS)
    columns = -(-len(panels) // rows)
    ranks = sorted(table["rank"].unique())
    published = table.dropna(subset="published_mean")
    grid: Iterator[Axes]
    with style():
        figure = Figure(figsize=(2.6 * columns, 3 * rows + 0.9))
        grid = iter(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, ((truth, metric), own) in zip(grid, panels, strict=False):
            _panel(axes, own)
            against = f" against {named(truth)}" if table.truth.nunique() > 1 and not pd.isna(truth) else ""
            axes.set_title(METRICS[metric].name + against, weight="bold")
            axes.set_ylabel(METRICS[metric].unit)
            rank_axis(axes, sorted({*ranks, *own.published_model.dropna().astype(int)}), "rank", narrow=True)
            axes.set_xlabel("rank")
        for axes in grid:
            axes.set_axis_off()
        figure.suptitle(finding(table), x=0.01, ha="left", weight="bold")
        entries = handles({f"rank {rank}": {**rank_look(int(rank)), "linestyle": "none"} for rank in ranks})
        if len(published):
            truths = " and ".join(published.published_truth.dropna().unique())
            entries += handles({f"the thesis{' against ' if truths else ''}{truths}": PUBLISHED})
        legend(figure, entries, columns=7)
    return figure


def _by_name(table: pd.DataFrame) -> Figure:
    """Draw each metric's mean and 95 % interval, a point for each model, a panel for each metric and truth."""
    panels = list(table.groupby(["truth", "metric"], sort=False, dropna=False))
    models = table.model.drop_duplicates().tolist()
    with style():
        figure = Figure(figsize=(max(6, 2.6 * len(panels)), 3.6))
        for axes, ((truth, metric), own) in zip(
            figure.subplots(1, len(panels), squeeze=False).flat, panels, strict=True
        ):
            for row in own.itertuples():
                spread = [[row.mean - row.low], [row.high - row.mean]]
                axes.errorbar([models.index(row.model)], [row.mean], yerr=spread, capsize=3, markersize=6, **BY_NAME)
            against = "" if pd.isna(truth) else f" against {named(truth)}"
            axes.set_title(METRICS[metric].name + against, weight="bold", fontsize=9)
            axes.set_ylabel(METRICS[metric].unit)
            axes.set_xticks(range(len(models)), models, rotation=20, ha="right", parse_math=False)
            axes.set_xlim(-0.6, len(models) - 0.4)
            axes.set_ylim(bottom=0)
            axes.grid(axis="y")
        figure.suptitle("Oversmoothing: mean and 95 % interval; lower is better", x=0.01, ha="left", weight="bold")
    return figure


def _panel(axes: Axes, own: pd.DataFrame) -> None:
    by_rank = own.groupby("rank")["mean"].mean()
    axes.plot(by_rank.index, by_rank, **MEASURED)
    for row in own.itertuples():
        look = rank_look(int(row.rank))
        spread = [[row.mean - row.low], [row.high - row.mean]]
        axes.errorbar([row.rank], [row.mean], yerr=spread, capsize=3, markersize=5, **look)
    known = own.dropna(subset="published_mean").drop_duplicates("published_model")
    line = known.assign(rank=known.published_model.astype(int)).sort_values("rank")
    axes.plot(line["rank"], line["published_mean"], **PUBLISHED)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")


if __name__ == "__main__":
    run(main)
