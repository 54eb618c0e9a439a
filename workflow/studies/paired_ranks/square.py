"""The closed square: how much of what a rank costs sits in the trunk, and how much in the head.

A trunk trained behind a full head and one trained behind a head W = A B of rank r are frozen, and on each a full head
and a head of rank r are retrained with the same budget. Beside these four cells stands a trunk behind a full head whose
gradient came through r dimensions; its head is as trained.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import stdtrit

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.statistics import LEVEL
from oversmoothing.tables import story
from oversmoothing.tables.figures.style import PALETTE, handles, legend, named, style, titled, whiskers, write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Cell, Page, Section, directions, labelled, pivot
from oversmoothing.tables.record import chosen, over_seeds, read_record, record
from studies.paired_ranks.paired import COMPARED
from studies.paired_ranks.paired import FULL as FULL_MODEL

CONTROL = "full_head"  # at the rank of the full head: a full head retrained on its own trunk
FULL, NARROW = "full head", "head of rank r"
RETRAINED = {  # kinds of the other cells: behind what the trunk was trained, and what reads it
    "retrained": (FULL, NARROW),
    "full_head": (NARROW, FULL),
    "own_trunk": (NARROW, NARROW),
}
TRAINED = {  # the same of models that are read as they were trained
    "plain": (NARROW, NARROW),
    "backward": ("full head, gradient of rank r", FULL),
}
SHARE = "_share"  # at the end of a measure: of what trunk and head cost together
LESS_CONTROL = "control"  # differences: costs
LESS_BOTH = "sum of both"  # of the cost of both, from what each costs alone
SHOWN = ("loss", "tto")
TITLE = "What a rank costs in the trunk and in the head, each head retrained on a frozen trunk."
TRUNKS = {  # in the order in which they had ever less
    FULL: "full\nhead",
    "full head, gradient of rank r": "full head,\ngradient\nof rank r",
    NARROW: "head of\nrank r",
}
LOOKS: dict[str, dict[str, Any]] = {
    FULL: {"color": PALETTE[0], "marker": "o", "linestyle": "-"},
    NARROW: {"color": PALETTE[1], "marker": "v", "linestyle": "--"},
}
HOLLOW = {
    "hollow: as trained, less the full model": {"color": "0.35", "marker": "D", "linestyle": "", "fillstyle": "none"}
}
APART = {FULL: -0.08, NARROW: 0.08}


def main(job: Job) -> None:
    """Read the differences by seed; write the table and the figure in all formats."""
    table = square_table(read_record(job.input.seeds))
    write_record(job.output, table, square_page(table, TITLE))
    figure = draw(read_record(job.output.csv), job.params.settings["truth"])
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


def costs(by_seed: pd.DataFrame, measure: str, truth: str | None = None) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield each rank at which the square is closed, and what its cells cost, from what `paired.per_seed` returns.

    The costs are by seed, the value of each kind of `RETRAINED` less that of the control, and the latter as
    ``control``; of a measure without a truth, `truth` is None.
    """
    cells = levels(by_seed, measure, truth)
    value = cells[cells.kind.isin(RETRAINED)].pivot_table(index="seed", columns=["kind", "rank"], values="value")
    ranks = sorted(rank for kind, rank in value.columns if kind == CONTROL)
    for rank in ranks[:-1]:
        if {(kind, rank) for kind in RETRAINED} <= set(value.columns):
            control = value[CONTROL, ranks[-1]]
            parts = {kind: value[kind, rank] - control for kind in RETRAINED}
            yield int(rank), pd.DataFrame({**parts, "control": control}).dropna()


def levels(by_seed: pd.DataFrame, measure: str, truth: str | None) -> pd.DataFrame:
    """Return what each model but the full one shows, as ``value``, and as ``cost`` what it shows above the full one."""
    own = chosen(by_seed, measure=measure, truth=truth)
    full = chosen(own, less=None)[["seed", "value"]]
    both = chosen(own, less=FULL_MODEL).rename(columns={"value": "cost"}).merge(full, on="seed")
    return both.assign(value=both.value + both.cost)


def ratio_interval(part: Sequence[float], whole: Sequence[float]) -> tuple[float, float, float]:
    r"""Return the ratio of two paired means with its 95 % interval.

    It holds the ratios :math:`\theta` for which the mean of :math:`x - \theta y`, x in `part` and y in `whole`, cannot
    be distinguished from 0 by Student's t (Fieller 1954, "Some problems in interval estimation"). All are NaN where
    that mean of y itself cannot.
    """
    n = len(part)
    if n < 2:
        return math.nan, math.nan, math.nan
    x, y = np.mean(part), np.mean(whole)
    (xx, xy), (_, yy) = np.cov(part, whole) / n * stdtrit(n - 1, LEVEL) ** 2
    left = y**2 - yy
    if left <= 0:
        return math.nan, math.nan, math.nan
    centre = (x * y - xy) / left
    half = math.sqrt(max(centre**2 - (x**2 - xx) / left, 0.0))
    return float(x / y), float(centre - half), float(centre + half)


def square_table(by_seed: pd.DataFrame) -> pd.DataFrame:
    """Return the record of the value and cost of each cell at each rank at which the square is closed, over all seeds.

    Costs are less the full head retrained on its own trunk, `LESS_CONTROL`, or for a model read as it was trained less
    the full model as trained; with `SHARE`, the cost of a retrained cell as a share of what a trunk and a head of that
    rank cost together.
    """
    rows = []
    compared = by_seed[by_seed.measure.isin(COMPARED)]
    for (measure, truth, unit), _ in compared.groupby(["measure", "truth", "unit"], sort=False, dropna=False):
        facts = {"measure": measure, "truth": truth, "unit": unit}
        rows += [facts | row for row in _rows_of(by_seed, measure, None if pd.isna(truth) else truth)]
    return record(rows)


def _rows_of(by_seed: pd.DataFrame, measure: str, truth: str | None) -> Iterator[dict[str, Any]]:
    """Yield rows of all that is known of a measure."""
    closed, own = dict(costs(by_seed, measure, truth)), levels(by_seed, measure, truth)
    if closed:
        highest = int(own["rank"][own.kind == CONTROL].max())
        yield {"kind": CONTROL, "rank": highest, **over_seeds(next(iter(closed.values())).control)}
    for rank, cells in closed.items():
        both = cells.own_trunk
        for kind in RETRAINED:
            yield {"kind": kind, "rank": rank, **over_seeds(cells[kind] + cells.control)}
            yield {"kind": kind, "rank": rank, "less": LESS_CONTROL, **over_seeds(cells[kind])}
        for kind in ("retrained", "full_head"):
            share = ratio_interval(cells[kind].tolist(), both.tolist())
            facts = {"kind": kind, "rank": rank, "measure": f"{measure}{SHARE}", "unit": "of the cost of both"}
            yield {**facts, **dict(zip(("value", "low", "high"), share, strict=True)), "n": len(cells)}
        together = {"kind": "own_trunk", "rank": rank, "less": LESS_BOTH}
        yield {**together, **over_seeds(both - cells.full_head - cells.retrained)}
        for kind, trained in own[(own["rank"] == rank) & own.kind.isin(TRAINED)].groupby("kind"):
            yield {"kind": kind, "rank": rank, **over_seeds(trained.value)}
            yield {"kind": kind, "rank": rank, "less": FULL_MODEL, **over_seeds(trained.cost)}


def square_page(table: pd.DataFrame, title: str) -> Page:
    """Return the page with a section per truth and a row per rank, trunk and head."""
    sections = [
        Section(f"Against `{truth}`", _rows(table[table.truth.isna() | (table.truth == truth)]))
        for truth in table.truth.dropna().unique()
    ]
    words = story.legend(__file__, "closed_square", seeds=int(table.n.max()))
    return Page(title, sections, [*words, directions(COMPARED[name][2] for name in SHOWN)])


def _rows(table: pd.DataFrame) -> list[dict[str, Cell]]:
    full = int(table["rank"].max())
    costs = table.assign(less=table.less.where(table.less.isna(), "cost"))
    cells, together = costs[table.less != LESS_BOTH], costs[table.less == LESS_BOTH]
    columns: dict[str, dict[str, Any]] = {}
    for measure in SHOWN:
        name, _, better = COMPARED[measure]
        columns[labelled(name, better)] = {"measure": measure, "less": None}
        columns[f"{name}: cost"] = {"measure": measure, "less": "cost"}
        columns[f"{name}: share"] = {"measure": f"{measure}{SHARE}"}
    named: dict[str, Cell] = {"rank": "full", "trunk trained behind": FULL, "read by": FULL, "head": "retrained"}
    rows = [
        named | cell | {"rank": "full"} for cell in pivot(chosen(cells, kind=CONTROL, rank=full), ["rank"], columns)
    ]
    for rank in sorted(set(table["rank"]) - {full}):
        for kinds, made in ((RETRAINED, "retrained"), (TRAINED, "as trained")):
            for kind, (trunk, head) in kinds.items():
                named = {"rank": str(rank), "trunk trained behind": trunk, "read by": head, "head": made}
                rows += [named | cell for cell in pivot(chosen(cells, kind=kind, rank=rank), ["rank"], columns)]
        named = {"rank": str(rank), "trunk trained behind": "interaction"}
        rows += [named | cell for cell in pivot(chosen(together, rank=rank), ["rank"], columns)]
    return rows


def draw(table: pd.DataFrame, truth: str) -> Figure:
    """Draw what each head costs on each trunk, TTO against `truth`; whiskers are 95 % intervals over seeds."""
    table = table[table.truth.isna() | (table.truth == truth)]
    costs = table[table.less.notna() & (table.less != LESS_BOTH)]
    ranks = sorted(table["rank"][table.kind == "own_trunk"].unique(), reverse=True)
    read = {trunk for kind, (trunk, _) in (RETRAINED | TRAINED).items() if kind in set(table.kind)}
    trunks = [trunk for trunk in TRUNKS if trunk == FULL or trunk in read]
    with style():
        figure = Figure(figsize=(1.2 + 3.0 * max(len(ranks), 2), 6.4))
        panels = figure.subplots(len(SHOWN), len(ranks), sharex=True, sharey="row", squeeze=False)
        for measure, line in zip(SHOWN, panels, strict=True):
            for rank, axes in zip(ranks, line, strict=True):
                part = chosen(costs, rank=rank, measure=measure).set_index("kind")
                _panel(axes, part, trunks)
                axes.set_title(f"{COMPARED[measure][0]}, r = {rank}", size="medium")
        for axes in panels[-1]:
            axes.set_xticks(range(len(trunks)), [TRUNKS[trunk] for trunk in trunks], size="small")
        panels[-1, 0].set_xlabel("what stood on the trunk when it was trained", loc="left")
        heads = {f"read by a {head}": look for head, look in LOOKS.items()}
        legend(figure, handles(heads, markersize=6, linewidth=1.4) + handles(HOLLOW, markersize=6), columns=3)
        seeds = int(table.n.max())
        titled(
            figure,
            "What do trunk and head of rank r cost over a full head on its own trunk?",
            f"Mean of {seeds} seeds; whiskers: 95 % (Student's t); TTO against {named(truth)}; lower is better.",
        )
    return figure


def _panel(axes: Axes, part: pd.DataFrame, places: Sequence[str]) -> None:
    axes.axhline(0, color="0.35", linestyle=":", linewidth=1.2)
    lines: dict[str, list[tuple[float, float]]] = {FULL: [(APART[FULL], 0.0)], NARROW: []}
    for kinds, filled in ((RETRAINED, True), (TRAINED, False)):
        for kind, (trunk, head) in kinds.items():
            if kind in part.index:
                row = part.loc[kind]
                x = places.index(trunk) + APART[head] * (1 if filled else 2)
                look = {**LOOKS[head], "linestyle": "", "fillstyle": "full" if filled else "none"}
                axes.errorbar([x], [row.value], yerr=whiskers(row), markersize=6, linewidth=1.2, capsize=2.5, **look)
                if filled:
                    lines[head].append((x, row.value))
    axes.plot(*lines[FULL][0], markersize=6, **{**LOOKS[FULL], "linestyle": ""})
    for head, points in lines.items():
        axes.plot(*zip(*points, strict=True), linewidth=1.2, **{**LOOKS[head], "marker": ""})
    axes.grid(axis="y")
    axes.set_xlim(-0.5, len(places) - 0.5)


if __name__ == "__main__":
    run(main)
