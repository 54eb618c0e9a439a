"""The table and the figure of all ways to impose a rank: loss, accuracy and oversmoothing at the same positions."""

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.statistics import Summary, WindowSums, summarise
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.scores.sums import summarise_scores
from oversmoothing.store.layout import ARROWS
from oversmoothing.tables.figures.style import (
    Look,
    handles,
    kind_look,
    legend,
    named,
    rank_axis,
    style,
    titled,
    write_figure,
)
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.kinds import LEGENDS
from oversmoothing.tables.losses import predictions
from oversmoothing.tables.record import read_record
from studies.imposed_rank.table import MEASURES, against, imposed_rank_page, imposed_rank_table, shares_of_cost

TITLE = "Ways to impose a rank on the LM head: learned from scratch, on the gradient alone, truncated, retrained."
COLUMNS = 3
OF_TRUNKS = ("full_head", "own_trunk")  # heads on other trunks: in the figure `closed_square`
BAND: dict[str, Any] = {"color": "0.35", "alpha": 0.15, "linewidth": 0}
FULL: dict[str, Any] = {"color": "0.35", "linestyle": ":", "linewidth": 1.2}


def main(job: Job) -> None:
    """Read logits and scores of all models; write the table and the figure in all formats."""
    settings = job.params.settings
    resamples, seed = settings["resamples"], settings["seed"]
    summaries: dict[tuple[str, str, str | None], Summary] = {}
    losses: dict[str, WindowSums] = {}
    for path in map(Path, job.input.logits):
        predicted = predictions(path)
        losses[path.stem] = predicted.losses
        summaries[path.stem, "loss", None] = summarise(predicted.losses, resamples, seed)
        summaries[path.stem, "accuracy", None] = summarise(predicted.right, resamples, seed)
    for path in map(Path, job.input.scores):
        for (truth, _), summary in summarise_scores(path, ["pure"], resamples, seed).items():
            summaries[path.stem, path.parent.name, truth] = summary
    summaries |= shares_of_cost(losses, settings["models"], resamples, seed)
    table = imposed_rank_table(summaries, settings["models"], settings["unit"])
    write_record(job.output, table, imposed_rank_page(table, TITLE))
    figure = draw(read_record(job.output.csv), settings["truth"])
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


def draw(table: pd.DataFrame, truth: str) -> Figure:
    """Draw every measure by rank, a line for each kind but `OF_TRUNKS`, over seeds, and one for the full model."""
    table = against(table[~table.kind.isin(OF_TRUNKS)], truth)
    looks = {kind: kind_look(kind) for kind in LEGENDS if (table.kind == kind).any()}
    full = int(table["rank"][table.kind == "family"].max())
    with style():
        rows = -(-len(MEASURES) // COLUMNS)
        figure = Figure(figsize=(9, 1.2 + 2.6 * rows))
        panels = list(figure.subplots(rows, COLUMNS, sharex=True).flat)
        for axes, (measure, (name, _, better)) in zip(panels, MEASURES.items(), strict=False):
            part = table[table.measure == measure]
            unlimited = part[(part.kind == "family") & (part["rank"] == full)].value.mean()
            axes.axhline(unlimited, **FULL)
            for kind, look in looks.items():
                _line(axes, part[part.kind == kind], look)
            held = f" against {named(truth)}" if measure in AGAINST_TRUTHS else ""
            axes.set_title(f"{name}{held} {ARROWS[better]}", size="medium")
            axes.grid(axis="y")
            rank_axis(axes, sorted(table["rank"].unique()), "rank of the head")
        for axes in panels[len(MEASURES) :]:
            axes.remove()
        for axes in panels[len(MEASURES) - COLUMNS : len(MEASURES)]:
            axes.set_xlabel("rank of the head")
            axes.tick_params(labelbottom=True)
        drawn = {LEGENDS[kind]: look for kind, look in looks.items()}
        entries = handles(drawn, markersize=6, linewidth=1.6) + handles({f"full model, rank {full}": FULL})
        legend(figure, [*entries, Patch(label="95 % intervals", **BAND)], columns=COLUMNS)
        arrows = ", ".join(f"{ARROWS[way]} {way} is better" for way in ARROWS)
        titled(figure, "What does a rank cost, by the way in which it is imposed?", f"On the same text; {arrows}.")
    return figure


def _line(axes: Axes, part: pd.DataFrame, look: Look) -> None:
    if part.empty:
        return
    by_rank = part.groupby("rank")
    mean, low, high = by_rank.value.mean(), by_rank.low.min(), by_rank.high.max()
    axes.plot(mean.index, mean, markersize=6, linewidth=1.6, **look)
    axes.fill_between(mean.index, low, high, **{**BAND, "color": look["color"]})


if __name__ == "__main__":
    run(main)
