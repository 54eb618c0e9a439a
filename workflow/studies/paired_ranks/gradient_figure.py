"""How much of the gradient of the logits reaches the trunk along training, and what it says about the final loss."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from oversmoothing.tables.figures.style import handles, kind_looks, legend, rank_look, step_axis, style
from studies.paired_ranks.gradient import SETTLED, mean_shares


def draw(table: pd.DataFrame, kinds: Iterable[Mapping[str, Any]]) -> Figure:
    """Draw the share of the gradient against steps, a line per way and rank, and the final loss against its mean.

    Colours are ranks, line styles and markers ways; a line is the mean over seeds, a point one model.

    Parameters
    ----------
    table : DataFrame
        As `gradient.gradient_table` returns it.
    kinds : iterable of mappings
        ``kind``, ``title`` and ``look`` of each kind of model (see `plan.arms.described`).
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
        for (way, rank), own in share.groupby(["way", "rank"], sort=False):
            line = own.groupby("step").value.mean()
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
        ways = {way: {**of_way[way], "color": "0.3"} for way in share.way.unique()}
        ranks = {f"rank {rank}": {"color": rank_look(int(rank))["color"]} for rank in sorted(share["rank"].unique())}
        entries = handles(ways, markersize=6, linewidth=1.3) + handles(ranks, linewidth=4)
        legend(figure, entries, columns=3)
    return figure
