"""The closed square: how much of what a rank costs sits in the trunk, and how much in the head.

A trunk trained behind a full head and one trained behind a head W = A B of rank r are frozen, and on each a full head
and a head of rank r are retrained with the same budget. Beside these four cells stands a trunk behind a full head whose
gradient came through r dimensions; its head is as trained.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from oversmoothing.numerics.statistics import LEVEL
from oversmoothing.tables.page import Cell, Page, Section, Value, directions, labelled
from oversmoothing.tables.record import over_seeds, record
from oversmoothing.tables.story import legend
from studies.paired_ranks.paired import COMPARED

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
COST, SHARE = "_cost", "_share"  # at the end of a measure: less the control; of what trunk and head cost together
NOT_ADDED = "own_trunk less full_head less retrained"  # what both cost together, less what each costs alone
SHOWN = ("loss", "tto")


def costs(differences: pd.DataFrame, measure: str, truth: str = "") -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield each rank at which the square is closed, and what its cells cost.

    Parameters
    ----------
    differences : DataFrame
        As `paired.per_seed` returns them.
    measure, truth : str
        Of which the costs are; "" for no truth.

    Yields
    ------
    rank : int
    costs : DataFrame
        By seed, the value of each kind of `RETRAINED` less that of the control, and the latter as ``control``.
    """
    cells = differences[(differences.measure == measure) & (differences.truth == truth)]
    cells = cells[cells.kind.isin(RETRAINED)].assign(value=cells.base + cells.difference)
    value = cells.pivot_table(index="seed", columns=["kind", "rank"], values="value")
    ranks = sorted(rank for kind, rank in value.columns if kind == CONTROL)
    for rank in ranks[:-1]:
        if {(kind, rank) for kind in RETRAINED} <= set(value.columns):
            control = value[CONTROL, ranks[-1]]
            parts = {kind: value[kind, rank] - control for kind in RETRAINED}
            yield int(rank), pd.DataFrame({**parts, "control": control}).dropna()


def ratio_interval(part: Sequence[float], whole: Sequence[float]) -> tuple[float, float, float]:
    r"""Return the ratio of two paired means with its 95 % interval.

    It holds the ratios :math:`\theta` for which the mean of :math:`x - \theta y` cannot be distinguished from 0 by
    Student's t (Fieller 1954, "Some problems in interval estimation"). All are NaN where that mean of y itself cannot.

    Parameters
    ----------
    part, whole : sequences of float, shape (n,)
        x and y, in pairs.
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


def square_table(differences: pd.DataFrame) -> pd.DataFrame:
    """Value and cost of each cell at each rank at which the square is closed, over all seeds.

    Parameters
    ----------
    differences : DataFrame
        As `paired.per_seed` returns them.

    Returns
    -------
    DataFrame
        Record; ``n`` counts seeds, intervals are 95 % by Student's t. Measures: those of `COMPARED`; with `COST`, less
        the full head retrained on its own trunk, or for a model read as it was trained less the full model as trained;
        with `SHARE`, that cost of a retrained cell as a share of what a trunk and a head of that rank cost together.
    """
    rows = []
    compared = differences[differences.measure.isin(COMPARED)]
    for (measure, truth, unit), alike in compared.groupby(["measure", "truth", "unit"], sort=False):
        for kind, rank, end, mean in _means(alike, dict(costs(differences, measure, truth))):
            facts = {"kind": kind, "rank": rank, "truth": truth or None, "measure": f"{measure}{end}"}
            facts["unit"] = "of the cost of both" if end == SHARE else unit
            rows.append(facts | mean)
    return record(rows)


def _means(
    differences: pd.DataFrame, closed: Mapping[int, pd.DataFrame]
) -> Iterator[tuple[str, int, str, dict[str, Any]]]:
    """Yield kind, rank, end of the measure, and mean over seeds, of all that is known of a measure."""
    if closed:
        control = next(iter(closed.values())).control
        yield CONTROL, int(differences["rank"][differences.kind == CONTROL].max()), "", over_seeds(control)
    for rank, cells in closed.items():
        both = cells.own_trunk
        for kind in RETRAINED:
            yield kind, rank, "", over_seeds(cells[kind] + cells.control)
            yield kind, rank, COST, over_seeds(cells[kind])
        for kind in ("retrained", "full_head"):
            share = ratio_interval(cells[kind].tolist(), both.tolist())
            yield kind, rank, SHARE, dict(zip(("value", "low", "high"), share, strict=True)) | {"n": len(cells)}
        yield NOT_ADDED, rank, COST, over_seeds(both - cells.full_head - cells.retrained)
        for kind, trained in differences[differences["rank"] == rank].groupby("kind"):
            if kind in TRAINED:
                yield kind, rank, "", over_seeds(trained.base + trained.difference)
                yield kind, rank, COST, over_seeds(trained.difference)


def square_page(table: pd.DataFrame, title: str) -> Page:
    """Page with a section per truth and a row per rank, trunk and head."""
    sections = [
        Section(f"Against `{truth}`", _rows(table[table.truth.isna() | (table.truth == truth)]))
        for truth in table.truth.dropna().unique()
    ]
    words = legend(__file__, "closed_square", seeds=int(table.n.max()))
    return Page(title, sections, [*words, directions(COMPARED[name][2] for name in SHOWN)])


def _rows(table: pd.DataFrame) -> list[dict[str, Cell]]:
    values = table.set_index(["kind", "rank", "measure"])[["value", "low", "high"]]
    full = int(table["rank"].max())

    def cells(kind: str, rank: int) -> dict[str, Cell]:
        row: dict[str, Cell] = {}
        for measure in SHOWN:
            name, _, better = COMPARED[measure]
            for end, label in (("", labelled(name, better)), (COST, f"{name}: cost"), (SHARE, f"{name}: share")):
                if (place := (kind, rank, f"{measure}{end}")) in values.index:
                    mean, low, high = values.loc[place]
                    row[label] = Value(mean, None, low, high)
        return row

    named = {"rank": "full", "trunk trained behind": FULL, "read by": FULL, "head": "retrained"}
    rows: list[dict[str, Cell]] = [{**named, **cells(CONTROL, full)}]
    for rank in sorted(set(table["rank"]) - {full}):
        for kinds, made in ((RETRAINED, "retrained"), (TRAINED, "as trained")):
            for kind, (trunk, head) in kinds.items():
                if numbers := cells(kind, rank):
                    cell = {"rank": str(rank), "trunk trained behind": trunk, "read by": head, "head": made}
                    rows.append({**cell, **numbers})
        rows.append({"rank": str(rank), "trunk trained behind": "interaction", **cells(NOT_ADDED, rank)})
    return rows
