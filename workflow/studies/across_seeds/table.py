"""Table of what holds across seeds: levels by rank, paired steps and arms, and the floor."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.numerics.statistics import student_interval
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.contrasts import at, crossed, means, paired, widened
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.page import Cell, Page, Section, Value, directions, labelled, pivot, valued
from oversmoothing.tables.record import chosen, record
from oversmoothing.tables.story import legend

FLOOR = "_floor"  # at the end of a measure
APART = "_apart"  # the same, of the mean distance at a position
FAMILY = "family"
LEAST = 3  # models of which pairs have an interval
ARM = ["kind", "rank", "arm"]
TTO = "tto"
NEXT = "next rank"


def across_table(windows: pd.DataFrame, of_equals: pd.DataFrame, equals: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the record of levels, steps and differences between arms over seeds, and of the floor.

    `windows` has the means of models against each truth (`window_means.parquet`). `of_equals`, with ``model``,
    ``truth``, ``measure``, ``value`` and ``n`` positions, has those of `equals`, models that differ in nothing but
    their seed, by group. Levels are by arm, rank and truth, and over all truths (no ``truth``). Differences, likewise,
    are from the next higher rank of the kind and from the family at the same rank, paired by seed (and window), of
    ranks that one arm of a kind has. Each has an interval over seeds, and one over seeds and windows.
    ``{measure}_floor`` is what a model of a group shows with another as the truth: of each pair, and the mean of all.
    """
    keys = [*ARM, "measure", "seed"]
    by_window = windows.loc[windows.measure.isin(AGAINST_TRUTHS), [*keys, "truth", "window", "n", "value"]]
    weighed = by_window.assign(value=by_window.value * by_window.n)
    sums = weighed.groupby([*keys, "truth"], sort=False, as_index=False)[["value", "n"]].sum()
    by_truth = sums.assign(value=sums.value / sums.n).drop(columns="n")
    levels, of_windows = (
        [own, pooled, *_differences(own), *_differences(pooled)]
        for own, pooled in (
            (by_truth, by_truth.groupby(keys, sort=False, as_index=False).value.mean()),
            (by_window, by_window.groupby([*keys, "window", "n"], sort=False, as_index=False).value.mean()),
        )
    )
    intervals, found = crossed(*of_windows), means(*levels)
    found = found.merge(intervals, how="left", on=[name for name in intervals if name in found])
    floor = [row for group, names in equals.items() for row in _floor(of_equals, group, names)]
    table = record(pd.concat([found, pd.DataFrame(floor)]))
    metrics = table.measure.str.removesuffix(FLOOR).map(METRICS)
    better = metrics.map(lambda metric: metric.better).where(table.less.isna())
    return table.assign(unit=metrics.map(lambda metric: metric.unit), better=better)


def _differences(levels: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield differences of levels from the next rank and from the family, each with the same seed and truth."""
    keys = [name for name in levels if name not in ("arm", "value")]
    alone = levels[~levels.duplicated(keys, keep=False)]
    base = alone.drop(columns="arm")
    for kind, part in alone.groupby("kind", sort=False):
        for rank, higher in pairwise(sorted(part["rank"].unique())):
            yield paired(chosen(part, rank=rank), at(base, kind=kind, rank=higher), f"rank {higher}")
        if kind != FAMILY:
            yield paired(part, at(base, kind=FAMILY), FAMILY)


def of_pairs(values: np.ndarray) -> tuple[float, float, float]:
    """Return the mean over pairs of k models, `values` (k, k) of model i with j as the truth, and its 95 % interval.

    The pairs share models, so the interval is Student's over the k pseudo-values of the jackknife; NaN with two models.
    """
    if len(values) < LEAST:
        return float(_off_diagonal(values).mean()), math.nan, math.nan
    return student_interval(pseudo_values(values))


def pseudo_values(values: np.ndarray) -> list[float]:
    """Return the jackknife's pseudo-value of each of at least three models: their mean is that over all pairs."""
    k, mean = len(values), _off_diagonal(values).mean()
    without = [_off_diagonal(np.delete(np.delete(values, i, 0), i, 1)).mean() for i in range(k)]
    return [float(k * mean - (k - 1) * rest) for rest in without]


def across_page(table: pd.DataFrame, title: str) -> Page:
    """Return the page with the levels and steps, the arms, the floor, and the levels against each truth."""
    arms, floor = table.dropna(subset="rank"), table[table.measure.str.endswith(FLOOR)]
    arms, compared = widened(arms)
    way = arms.kind.map(TITLES)
    twice = arms.groupby(["kind", "rank"]).arm.transform("nunique") > 1
    arms = arms.assign(
        way=way.where(~twice, way + " (`" + arms.arm + "`)"),
        less=arms.less.str.replace(r"^rank .*", NEXT, regex=True),
    )
    names = {name: labelled(METRICS[name].label, METRICS[name].better) for name in AGAINST_TRUTHS}
    columns: dict[str, dict[str, Any]] = {names[name]: {"measure": name, "less": None} for name in AGAINST_TRUTHS}
    columns[f"{METRICS[TTO].label}, step"] = {"measure": TTO, "less": NEXT}
    labels = {METRICS[name].label: name for name in AGAINST_TRUTHS}
    truths, sections = arms.truth.dropna().unique(), []
    for truth in truths:
        of_truth, against = chosen(arms, truth=truth), f", against `{truth}`" if len(truths) > 1 else ""
        rows = pivot(of_truth, ["rank", "way"], columns)
        sections.append(Section(f"Levels, and steps to the next rank of the arm{against}", rows))
        of_family = chosen(of_truth, less=FAMILY).sort_values("rank", kind="stable")
        for kind, part in of_family.groupby("kind", sort=False):
            heading = f"{TITLES[str(kind)].capitalize()}, minus the family at the same rank{against}"
            sections.append(Section(heading, pivot(part, ["rank"], labels)))
    if rows := _floor_rows(floor, names):
        sections.append(Section("The floor: two models that differ in nothing but their seed", rows))
    words = legend(__file__, "across_seeds", seeds=int(arms.n.max()), **compared)
    return Page(title, sections, [*words, directions(table.better)])


def _floor(of_equals: pd.DataFrame, group: str, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for measure, part in of_equals[of_equals.model.isin(names)].groupby("measure", sort=False):
        facts = {"note": group, "measure": f"{measure}{FLOOR}"}
        for pair in part.to_dict("records"):
            yield {**facts, **{key: pair[key] for key in ("model", "truth", "value", "n")}}
        square = part.pivot_table(index="model", columns="truth", values="value").reindex(names)[list(names)]
        mean = dict(zip(("value", "low", "high"), of_pairs(square.to_numpy()), strict=True))
        yield {**facts, **mean, "n": len(names)}


def _off_diagonal(values: np.ndarray) -> np.ndarray:
    return values[~np.eye(len(values), dtype=bool)]


def _floor_rows(table: pd.DataFrame, names: Mapping[str, str]) -> list[dict[str, Cell]]:
    rows = []
    for (group, measure), own in table.groupby(["note", "measure"], sort=False):
        pairs, mean = own[own.model.notna()].value, own[own.model.isna()].iloc[0]
        cells: dict[str, Cell] = {"two": group, "models": str(mean.n), "metric": names[measure.removesuffix(FLOOR)]}
        cells |= {"mean": valued(mean, False), "smallest": Value(pairs.min()), "largest": Value(pairs.max())}
        rows.append(cells)
    return rows
