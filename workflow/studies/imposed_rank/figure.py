"""Loss, accuracy and oversmoothing against rank, one line for each way of imposing it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.store.layout import ARROWS
from oversmoothing.tables.figures.style import Look, handles, kind_looks, legend, named, rank_axis, style
from studies.imposed_rank.table import MEASURES, against

COLUMNS = 3
BAND: dict[str, Any] = {"color": "0.35", "alpha": 0.15, "linewidth": 0}
FULL: dict[str, Any] = {"color": "0.35", "linestyle": ":", "linewidth": 1.2}


def draw(table: pd.DataFrame, truth: str, kinds: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw every measure against rank, one line for each way, with the full model as a horizontal line.

    With several seeds, a point is the mean over the seeds, and its interval runs from the lowest to the highest end of
    their intervals.

    Parameters
    ----------
    table : DataFrame
        As `table.imposed_rank_table` returns it.
    truth : str
        The truth against which oversmoothing is measured.
    kinds : sequence of mappings
        ``kind``, ``title``, ``legend`` and ``look`` of each kind of model (see `plan.arms.described`); the first is the
        family.
    """
    own = against(table, truth)
    own = own.assign(way=own.kind.map({kind["kind"]: kind["title"] for kind in kinds}))
    looks = kind_looks(kinds)
    family = kinds[0]["title"]
    full = int(own["rank"][own.way == family].max())
    with style():
        rows = -(-len(MEASURES) // COLUMNS)
        figure = Figure(figsize=(10, 0.8 + 2.8 * rows))
        panels = list(figure.subplots(rows, COLUMNS, sharex=True).flat)
        for axes, (measure, (name, _, better)) in zip(panels, MEASURES.items(), strict=False):
            part = own[own.measure == measure]
            unlimited = part[(part.way == family) & (part["rank"] == full)].value.mean()
            axes.axhline(unlimited, **FULL)
            for way, look in looks.items():
                _line(axes, part[part.way == way], look)
            axes.set_title(f"{name} {ARROWS[better]}")
            axes.grid(axis="y")
            rank_axis(axes, sorted(own["rank"].unique()), "rank of the head")
        for axes in panels[len(MEASURES) :]:
            axes.remove()
        for axes in panels[len(MEASURES) - COLUMNS : len(MEASURES)]:
            axes.set_xlabel("rank of the head")
            axes.tick_params(labelbottom=True)
        drawn = {kind["legend"]: looks[kind["title"]] for kind in kinds if (own.way == kind["title"]).any()}
        entries = handles(drawn, markersize=6, linewidth=1.6) + handles({f"full model, rank {full}": FULL})
        legend(figure, [*entries, Patch(label="95 % intervals", **BAND)], columns=COLUMNS)
        first, last = METRICS[AGAINST_TRUTHS[0]].name, METRICS[AGAINST_TRUTHS[-1]].name
        title = f"Oversmoothing ({first} to {last}) against {named(truth)}, pure decoding"
        figure.suptitle(title, x=0.01, ha="left", size="medium")
    return figure


def _line(axes: Axes, part: pd.DataFrame, look: Look) -> None:
    if part.empty:
        return
    by_rank = part.groupby("rank")
    mean, low, high = by_rank.value.mean(), by_rank.low.min(), by_rank.high.max()
    axes.plot(mean.index, mean, markersize=6, linewidth=1.6, **look)
    axes.fill_between(mean.index, low, high, **{**BAND, "color": look["color"]})
