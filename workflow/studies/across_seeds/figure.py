"""TTO by rank and seed beside the floor, and the steps between neighbouring ranks."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.figures.style import Look, Looks, handles, kind_look, legend, rank_axis, style, titled
from oversmoothing.tables.kinds import LEGENDS
from oversmoothing.tables.record import chosen
from studies.across_seeds.table import FLOOR

MEASURE = AGAINST_TRUTHS[0]
GREYS = ("0.75", "0.45")


def draw(table: pd.DataFrame) -> Figure:
    """Draw what `table.across_table` returns: levels with the floor behind them, and paired steps."""
    pooled = chosen(table.dropna(subset="rank"), truth=None, measure=MEASURE)
    by_rank = pooled.groupby("kind").apply(lambda part: part.groupby("rank").arm.nunique().max() == 1)
    pooled = pooled[pooled.kind.map(by_rank)]  # several arms at one rank make no line
    looks = {kind: kind_look(kind) for kind in LEGENDS if (pooled.kind == kind).any()}
    with style():
        figure = Figure(figsize=(10, 4.4))
        levels, steps = figure.subplots(1, 2, width_ratios=[1.25, 1])
        floors = _floor(levels, table)
        _lines(levels, chosen(pooled, less=None), looks)
        levels.set_ylim(bottom=0)
        levels.set_title("Mean and 95 % interval over seeds", size="medium")
        levels.set_ylabel(f"{METRICS[MEASURE].name}, lower is better")
        levels.grid(axis="y")
        rank_axis(levels, sorted(pooled["rank"].unique()))
        _steps(steps, pooled[pooled.less.str.startswith("rank", na=False)], looks)
        titled(
            figure,
            "How much leaks by rank, and by how much does each step of rank lower it?",
            f"{METRICS[MEASURE].name}, the probability added outside the truth's nucleus; the band is chance: what two "
            "models show that differ in their seed alone.",
        )
        entries = handles({LEGENDS[kind]: look for kind, look in looks.items()}, markersize=6, linewidth=1.6)
        legend(figure, [*entries, *floors], columns=2)
    return figure


def _lines(axes: Axes, table: pd.DataFrame, looks: Looks) -> None:
    for i, (kind, look) in enumerate(looks.items()):
        part = table[table.kind == kind].sort_values("rank")
        _intervals(axes, part["rank"].astype(float) * 1.05**i, part, look)


def _steps(axes: Axes, table: pd.DataFrame, looks: Looks) -> None:
    pairs = list(zip(table["rank"], table.less, strict=True))
    places = {pair: place for place, pair in enumerate(sorted(set(pairs)))}
    at = pd.Series([float(places[pair]) for pair in pairs], table.index)
    for i, (kind, look) in enumerate(looks.items()):
        part = table[table.kind == kind]
        _intervals(axes, at[part.index] + 0.15 * (i - (len(looks) - 1) / 2), part, {**look, "linestyle": "none"})
    axes.axhline(0, color="0.35", linewidth=1)
    axes.set_yscale("symlog", linthresh=0.02, linscale=1.5)
    axes.set_yticks([0, 0.01, 0.02, 0.05, 0.1, 0.2], ["0", "0.01", "0.02", "0.05", "0.1", "0.2"])
    axes.minorticks_off()
    axes.set_xticks(range(len(places)), [f"{rank}\n- {less.split()[-1]}" for rank, less in places])
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.grid(axis="y")
    axes.set_xlabel("a rank, and the next of its arm, which is subtracted")
    axes.set_title("Steps, paired by seed (axis: linear below 0.02)", size="medium")


def _intervals(axes: Axes, places: pd.Series, table: pd.DataFrame, look: Look) -> None:
    errors = [table.value - table.low, table.high - table.value]
    axes.errorbar(places, table.value, errors, markersize=5, linewidth=1.6, capsize=3, elinewidth=1.2, **look)


def _floor(axes: Axes, table: pd.DataFrame) -> list[Patch]:
    """Draw a band from the smallest to the largest pair of each group of equals; return their legend entries."""
    pairs = table[(table.measure == f"{MEASURE}{FLOOR}") & table.model.notna()]
    entries = []
    for (group, part), grey in zip(pairs.groupby("note", sort=False), GREYS, strict=False):
        axes.axhspan(part.value.min(), part.value.max(), facecolor=grey, edgecolor=grey, zorder=0)
        entries.append(Patch(color=grey, label=f"floor: two {group} of different seeds, one as the truth"))
    return entries
