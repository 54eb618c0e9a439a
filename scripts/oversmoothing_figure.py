"""Oversmoothing against rank, beside the thesis's (Tables 4.1 and 4.2)."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.claims.headline import finding
from oversmoothing.jobs import Job, run
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import (
    handles,
    legend,
    named,
    other_look,
    rank_axis,
    rank_look,
    style,
    titled,
    write_figure,
)
from oversmoothing.tables.record import read_record

QUESTION = "How much probability leaks to where the truth puts little{by}?"
MEASURED: dict[str, Any] = {"color": "0.45", "linewidth": 1.5, "zorder": 1.8}
OURS: dict[str, Any] = {**MEASURED, "marker": "o", "markersize": 5}  # in the legend; on the line by rank
PUBLISHED: dict[str, Any] = {
    **{"color": "0.55", "linewidth": 1.2, "linestyle": (0, (3, 2)), "zorder": 1.7},
    **{"marker": "o", "markersize": 5, "markerfacecolor": "white"},
}
COLUMNS = 3  # of one truth; of several each has a row
WORDS = {
    "tto": "added outside the nucleus",
    "nsmd": "missing inside the nucleus",
    "tv": "moved, in all",
    "kl": "divergence from the truth",
    "tbat": "on what may be impossible",
}


def main(job: Job) -> None:
    """Read the main table, and with several seeds the means by window; write the figure."""
    windows = [read_table(path).to_pandas() for path in job.input.windows]
    write_figure(draw(read_record(job.input.table), *windows), job.output)


def draw(table: pd.DataFrame, windows: pd.DataFrame | None = None, across: int | None = None) -> Figure:
    """Draw each metric's mean and 95 % interval against rank, a panel for each metric and truth, under the finding.

    The table is that of `score_tables.score_table`. Every model has a point, with the look of its rank, and the line
    joins the means of the ranks. The thesis's values stand at its own ranks. Where a model has no rank in the table, as
    of those from the hub, all stand side by side by name. `across` is the number of columns; without it each of several
    truths has a row.
    """
    panels = list(table.groupby(["truth", "measure"], sort=False, dropna=False))
    several = table.truth.nunique() > 1
    most = across or (table[table.truth.notna()].measure.nunique() if several else COLUMNS)
    rows, columns = -(-len(panels) // most), min(most, len(panels) + 1)
    if table["rank"].isna().any():
        places = {name: i for i, name in enumerate(table.model.unique())}
        looks = {name: {**other_look(i), "linestyle": "none"} for name, i in places.items()}
        ranks = []
    else:
        places = dict(zip(table.model, table["rank"].astype(int), strict=True))
        looks = {name: rank_look(rank) for name, rank in places.items()}
        ranks = sorted(set(places.values()))
    published = table.dropna(subset="published")
    grid: Iterator[Axes]
    with style():
        figure = Figure(figsize=(3 * columns, 2.7 * rows + 0.7))
        grid = iter(figure.subplots(rows, columns, squeeze=False).flat)
        for ((truth, metric), panel), axes in zip(panels, grid, strict=False):
            _panel(axes, panel, places, looks, bool(ranks))
            words = f": {WORDS[metric]}" if metric in WORDS else ""
            against = f"\nagainst {named(truth, several)}" if several and not pd.isna(truth) else ""
            axes.set_title(f"{METRICS[metric].name}{words}{against}", size="small", weight="bold")
            axes.set_ylabel(f"{METRICS[metric].unit}, {METRICS[metric].better} is better", size="small")
            if ranks:
                rank_axis(axes, ranks)
                axes.set_xlabel("rank of what enters the LM head", size="small")
            else:
                axes.set_xticks([])
                axes.set_xlim(-0.5, len(places) - 0.5)
        titled(figure, QUESTION.format(by=", by rank" if ranks else ""), finding(table, windows))
        several_seeds = len(places) > len(ranks)
        ours = "each training and their mean" if several_seeds else "mean"
        entries = handles({f"this run: {ours}, 95 % intervals over windows": OURS} if ranks else looks)
        if len(published):
            truths = " and ".join(published.published_truth.dropna().unique())
            entries += handles({f"the thesis{' against ' if truths else ''}{truths}": PUBLISHED})
        free = list(grid)
        if free:
            beside = free[0].legend(handles=entries, loc="center left")
            beside.set_in_layout(len(free) < 2)  # more free places: it may reach over the next
        else:
            legend(figure, entries)
        for axes in free:
            axes.set_axis_off()
    return figure


def _panel(
    axes: Axes, panel: pd.DataFrame, places: Mapping[str, int], looks: Mapping[str, dict[str, Any]], joined: bool
) -> None:
    by_rank = panel.groupby("rank").value.mean()
    if joined:
        axes.plot(by_rank.index, by_rank, **MEASURED)
    for row in panel.itertuples():
        spread = [[row.value - row.low], [row.high - row.value]]
        axes.errorbar([places[row.model]], [row.value], yerr=spread, capsize=3, markersize=5, **looks[row.model])
    known = panel.dropna(subset="published").drop_duplicates("published_model")
    line = known.assign(rank=known.published_model.astype(int)).sort_values("rank")
    axes.plot(line["rank"], line.published, **PUBLISHED)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")


if __name__ == "__main__":
    run(main)
