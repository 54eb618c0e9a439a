"""What other output layers and objectives add to TTO, at equal rank, operations and loss, and to TV at equal TTO."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from oversmoothing.tables.figures.style import handles, legend, rank_look, style, titled, whiskers
from oversmoothing.tables.record import chosen
from studies.other_explanations.kinds import LINEAR_HEADS, SHORTER, setting
from studies.other_explanations.page import described
from studies.other_explanations.table import EQUAL_LOSS, EQUAL_TTO, OPERATIONS

COLUMNS = {
    ("tto", LINEAR_HEADS): "TTO less that of the linear\nhead of the same rank",
    ("tto", OPERATIONS): "TTO less that of linear heads of\nas many operations, or the full one",
    ("tto", EQUAL_LOSS): "TTO less that of the full\nlinear head at equal loss",
    ("tv", EQUAL_TTO): "TV less that of the linear head\nat the temperature with as much TTO",
}
ROW = 0.3  # inches of a model


def draw(table: pd.DataFrame, titles: Mapping[str, str], truth: str) -> Figure:
    """Draw what `table.explanations_table` returns: panels for each text, with a line for each head or objective."""
    table = table[table.n.notna() & (table.kind != SHORTER)]
    laws = list(dict.fromkeys(table.law.fillna("")))
    lines = {law: _lines(table[table.law.fillna("") == law], titles) for law in laws}
    ranks = sorted(int(rank) for rank in table["rank"].unique())
    looks = {rank: {**rank_look(rank), "linestyle": "none"} for rank in ranks}
    there = [column for column in COLUMNS if len(chosen(table, measure=column[0], less=column[1]))]
    columns = {column: COLUMNS[column] for column in there or COLUMNS}
    with style():
        heights = [len(lines[law]) + 3 for law in laws]
        figure = Figure(figsize=(3.5 * len(columns), 0.9 + ROW * sum(heights)))
        panels = figure.subplots(len(laws), len(columns), sharey="row", height_ratios=heights, squeeze=False)
        for row, law in zip(panels, laws, strict=True):
            of_law = table[table.law.fillna("") == law]
            text = described(law, truth).replace("`", "")
            for i, ((measure, less), title) in enumerate(columns.items()):
                _panel(row[i], chosen(of_law, measure=measure, less=less), lines[law], looks)
                row[i].set_title(f"{'' if i else text}\n{title}", size="small")
        by_rank = {f"rank {rank}": look for rank, look in looks.items()}
        legend(figure, handles(by_rank, markersize=6), columns=len(ranks))
        seeds = int(table.n.max())
        titled(
            figure,
            "Do other heads or objectives leak less than linear heads and cross-entropy?",
            f"Left of 0 is better. Mean of {seeds} seeds; whiskers: 95 % (Student's t).",
        )
    return figure


def _lines(table: pd.DataFrame, titles: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Names of the arms of each line, by its label: those that differ in rank alone."""
    lines: dict[str, list[str]] = {}
    for kind, arm in table[["kind", "arm"]].drop_duplicates().itertuples(index=False):
        label = "linear head" if kind == LINEAR_HEADS else f"{titles[kind]} {setting(kind, arm)}".rstrip()
        lines.setdefault(label, []).append(str(arm))
    return {label: tuple(arms) for label, arms in lines.items()}


def _panel(
    axes: Axes, table: pd.DataFrame, lines: Mapping[str, Sequence[str]], looks: Mapping[int, Mapping[str, Any]]
) -> None:
    axes.axvline(0, color="0.35", linewidth=1)
    for place, arms in enumerate(lines.values()):
        part = table[table.arm.isin(arms)]
        for i, (rank, look) in enumerate(looks.items()):
            for _, cell in part[part["rank"] == rank].iterrows():
                at = place + 0.18 * (i - (len(looks) - 1) / 2)
                axes.errorbar(cell.value, at, xerr=whiskers(cell), markersize=4.5, linewidth=1, capsize=2, **look)
    axes.set_yticks(range(len(lines)), list(lines))
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.grid(axis="x")
    axes.tick_params(labelsize="small")
