"""The figure of the ladder: the parts of the KL that a rank adds against compute, with the law and its predictions."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from oversmoothing.tables.figures.style import handles, legend, named, rank_look, style, titled
from oversmoothing.tables.record import chosen
from studies.size_ladder.elsewhere import THESIS, WORKSTATION
from studies.size_ladder.law import COEFFICIENTS, Law
from studies.size_ladder.parts import OWN
from studies.size_ladder.predict import LAW, SIZE_0, TEXT_0
from studies.size_ladder.table import FORCED, REST

PANELS = {FORCED: "forced by the head", REST: "the rest"}
OPERATIONS = 6  # of training, for each weight and byte


def draw(ladder: pd.DataFrame, held_out: pd.DataFrame, predicted: pd.DataFrame, truth: str) -> Figure:
    """Draw both parts by rank, a row for each truth.

    `ladder` and `held_out` have what each seed adds, `predicted` the rows of `predict.predictions`.
    """
    truths = {OWN: "own truths, which grow", truth: f"{named(truth)}, which stays"}
    ranks = sorted(int(rank) for rank in ladder["rank"].unique())
    came = "; stars: what came" if len(held_out) else ""
    with style():
        figure = Figure(figsize=(11, 8.4))
        panels = figure.subplots(len(truths), len(PANELS), sharex=True)
        for row, (name, judge) in zip(panels, truths.items(), strict=True):
            for axes, (measure, words) in zip(row, PANELS.items(), strict=True):
                for rank in ranks:
                    shown = [chosen(of, rank=rank, truth=name, measure=measure) for of in (ladder, held_out, predicted)]
                    _rank(axes, rank, *shown)
                axes.set_xscale("log")
                axes.set_yscale("log")
                axes.set_title(f"{words}; judged by {judge}", size="medium")
                axes.grid()
            row[0].set_ylabel("KL above full rank's, nats")
        for axes in panels[-1]:
            axes.set_xlabel("operations of training: 6 x weights of the blocks x bytes read")
        titled(
            figure,
            "Does what a rank costs move from what its head forces to the rest as models grow?",
            "Points: means over seeds, one for each size and text. Lines: the law fitted to them, by text. Bars: what "
            f"it predicts of a size held out, 95 % of single seeds{came}. Values of 0 or less are left out.",
        )
        looks = {f"rank {rank}": {**rank_look(rank), "linestyle": "none"} for rank in ranks}
        law = Line2D([], [], color="0.4", label="the law")
        star = Line2D([], [], color="0.4", marker="*", markersize=11, linestyle="none", label="held out")
        legend(figure, [*handles(looks), law, *([star] if len(held_out) else [])], columns=5)
    return figure


def _rank(axes: Axes, rank: int, ladder: pd.DataFrame, held_out: pd.DataFrame, predicted: pd.DataFrame) -> None:
    look = rank_look(rank)
    points, held = (_means(table) for table in (ladder, held_out))
    axes.plot(*_drawn(points), **{**look, "linestyle": "none"})
    axes.plot(*_drawn(held), **{**look, "linestyle": "none", "marker": "*", "markersize": 11})
    intervals = predicted[~predicted.place.isin([LAW, WORKSTATION, THESIS])]
    if (law := _law(chosen(predicted, place=LAW))) is not None:
        widest = max([*points.weights, *held.weights, *intervals.weights])
        sizes = np.geomspace(points.weights.min(), widest, 40)
        for text in points.bytes.unique():
            y = law(sizes, float(text))
            axes.plot(OPERATIONS * sizes * float(text), y, color=look["color"], linewidth=1, alpha=0.7)
    for _, row in intervals.dropna(subset="low").iterrows():
        at = OPERATIONS * float(row.weights) * float(row.bytes)
        axes.plot([at, at], [row.low, row.high], color=look["color"], linewidth=4, alpha=0.35)


def _means(table: pd.DataFrame) -> pd.DataFrame:
    return table.astype({"weights": float, "bytes": float}).groupby(["weights", "bytes"], as_index=False).value.mean()


def _drawn(points: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    above = points[points.value > 0]
    return OPERATIONS * above.weights * above.bytes, above.value


def _law(rows: pd.DataFrame) -> Law | None:
    known = rows.set_index("coefficient").value.to_dict()
    if not known:
        return None
    return Law(**{name: known[name] for name in COEFFICIENTS}, centre=(known[SIZE_0], known[TEXT_0]))
