"""What a rank costs, by where it is imposed: loss, steps, and oversmoothing at the end and at equal loss."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.figures.style import KINDS, handles, legend, named, rank_axis, style, write_figure
from oversmoothing.gradient.paired import SLOWDOWN
from oversmoothing.imposed_rank.table import WAYS
from oversmoothing.jobs import Job, run
from oversmoothing.layout import read_csv

LABELS = {
    "family": "on both, with a LayerNorm (the thesis)",
    "plain": "on both: head W = A B from scratch",
    "backward": "on the gradient alone (Murugan 2026)",
    "retrained": "on the logits alone: head W = A B retrained",
    "normed": "on the logits alone: retrained with LayerNorm",
}
PANELS = {
    "loss": "Loss above the full head's (nats)",
    SLOWDOWN: "Steps to equal loss (times the full head's)",
    "tto": "TTO above the full head's",
    "tto_at_loss": "TTO above the full head's at equal loss",
}
APART = 0.05  # octaves between the points of two ways at a rank


def main(job: Job) -> None:
    """Read the table of paired differences; write the figure."""
    write_figure(draw(read_csv(job.input[0]), job.params.settings["truth"]), job.output)


def draw(table: pd.DataFrame, truth: str) -> Figure:
    """Draw each measure against rank, a line per way; whiskers are 95 % intervals over seeds.

    Parameters
    ----------
    table : DataFrame
        As `gradient.paired.paired_table` returns it.
    truth : str
        The truth against which oversmoothing is measured.
    """
    own = table[(table.truth.isna() | (table.truth == truth)) & table.way.isin([WAYS[kind] for kind in LABELS])]
    drawn = [kind for kind in LABELS if (own.way == WAYS[kind]).any()]
    with style():
        figure = Figure(figsize=(10, 7.4))
        panels = figure.subplots(2, 2)
        panels[1, 1].sharey(panels[1, 0])
        apart = [(i - (len(drawn) - 1) / 2) * APART for i in range(len(drawn))]
        for axes, (measure, title) in zip(panels.flat, PANELS.items(), strict=True):
            part = own[own.measure == measure]
            axes.axhline(1 if measure == SLOWDOWN else 0, color="0.35", linestyle=":", linewidth=1.2)
            for kind, octaves in zip(drawn, apart, strict=True):
                _points(axes, part[part.way == WAYS[kind]].sort_values("rank"), kind, octaves)
            axes.set_title(title, size="medium")
            axes.grid(axis="y")
            if len(part):
                rank_axis(axes, sorted(part["rank"].unique()), "rank")
            if measure == SLOWDOWN:
                axes.set_yscale("log", base=2)
                axes.yaxis.set_major_formatter("{x:g}")
        looks = {LABELS[kind]: KINDS[kind] for kind in drawn}
        legend(figure, handles(looks, markersize=6, linewidth=1.2), columns=2)
        seeds = int(table.n.max())
        figure.suptitle(
            f"Where a rank is imposed. Mean of {seeds} seeds, each less its full head; whiskers: 95 % (Student's t). "
            f"TTO against {named(truth)}",
            x=0.01,
            ha="left",
            size="medium",
        )
    return figure


def _points(axes: Axes, part: pd.DataFrame, kind: str, octaves: float) -> None:
    if part.empty:
        return
    ranks = part["rank"] * 2**octaves
    beyond = [part["mean"] - part.low, part.high - part["mean"]]
    axes.errorbar(ranks, part["mean"], yerr=beyond, markersize=6, linewidth=1.2, capsize=2.5, **KINDS[kind])


if __name__ == "__main__":
    run(main)
