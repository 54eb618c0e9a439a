"""Table of what holds across seeds: levels by rank, paired steps and arms, and the floor."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.numerics.statistics import student_interval
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.page import Cell, Page, Section, Value, directions, labelled
from oversmoothing.tables.record import over_seeds, record
from oversmoothing.tables.story import legend

STEP, FLOOR = "_step", "_floor"  # at the end of a measure
LESS = " less "  # between two kinds, of a difference at one rank
FAMILY = "family"
LEAST = 3  # models of which pairs have an interval
ARM = ["kind", "rank", "arm"]


def across_table(
    scores: pd.DataFrame,
    of_equals: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    equals: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Levels, steps and differences between arms over seeds, and the floor.

    Parameters
    ----------
    scores : DataFrame
        ``model``, ``truth``, ``measure``, ``value``: means of the models against each truth.
    of_equals : DataFrame
        The same of models against their equals, with ``n`` positions.
    models : sequence of mappings
        What `record.facts` reads.
    equals : mapping
        Models that differ in nothing but their seed, by the name of their group.

    Returns
    -------
    DataFrame
        Record. The levels are by arm, rank and truth, and over all truths (no ``truth``): means over ``n`` seeds with
        95 % intervals by Student's t. So are ``{measure}_step``, a rank less the next higher one of its kind, and the
        kinds ``{kind} less family``, both paired by seed and over all truths, of ranks that one arm of a kind has.
        ``{measure}_floor`` is what one model of a group shows with another one as the truth: of each pair over ``n``
        positions, and the mean of all pairs of ``n`` models with its interval (see `of_pairs`).
    """
    by_truth = scores.merge(pd.DataFrame(models), on="model")
    pooled = by_truth.groupby([*ARM, "measure", "seed"], sort=False, as_index=False).value.mean()
    rows = [*_levels(by_truth, [*ARM, "truth", "measure"]), *_levels(pooled, [*ARM, "measure"])]
    alone = pooled[~pooled.duplicated(["kind", "rank", "measure", "seed"], keep=False)]
    rows += [*_steps(alone), *_between_arms(alone)]
    for group, names in equals.items():
        rows += _floor(of_equals[of_equals.model.isin(names)], group, names)
    return record({**row, "unit": METRICS[metric(row["measure"])].unit} for row in rows)


def of_pairs(values: np.ndarray) -> tuple[float, float, float]:
    """Return the mean over pairs of k models and its 95 % interval by the jackknife over models.

    Parameters
    ----------
    values : array, shape (k, k)
        Of model i with model j as the truth; the diagonal is not read.

    Returns
    -------
    tuple of float
        Mean, low, high. The pairs share models, so the interval is Student's over the k pseudo-values of leaving out
        one model each; NaN with two models.
    """
    if len(values) < LEAST:
        return float(_off_diagonal(values).mean()), math.nan, math.nan
    return student_interval(pseudo_values(values))


def pseudo_values(values: np.ndarray) -> list[float]:
    """Return the jackknife's pseudo-value of each of at least three models: their mean is that over all pairs.

    `values` is as `of_pairs` takes it; what a model adds to the mean as a model and as a truth is in its own.
    """
    k, mean = len(values), _off_diagonal(values).mean()
    without = [_off_diagonal(np.delete(np.delete(values, i, 0), i, 1)).mean() for i in range(k)]
    return [float(k * mean - (k - 1) * rest) for rest in without]


def metric(measure: str) -> str:
    """The metric that a measure is made of."""
    return measure.removesuffix(STEP).removesuffix(FLOOR)


def across_page(table: pd.DataFrame, title: str) -> Page:
    """Page with the levels and steps, the arms, the floor, and the levels against each truth."""
    table = table.assign(way=table.kind.map(TITLES))
    everywhere = table[table.truth.isna() & table.model.isna()]
    sections = [Section("Levels, and steps to the next rank of the arm", _level_rows(everywhere))]
    arms = everywhere[everywhere.kind.str.contains(LESS, na=False)]
    for kind, part in arms.groupby("kind", sort=False):
        arm = TITLES[str(kind).removesuffix(LESS + FAMILY)]
        sections.append(Section(f"{arm.capitalize()}, minus the family at the same rank", _by_measure(part)))
    if len(floor := table[table.measure.str.endswith(FLOOR)]):
        sections.append(Section("The floor: two models that differ in nothing but their seed", _floor_rows(floor)))
    truths = list(table.truth[table.kind.isin(list(TITLES)) & table["rank"].notna()].dropna().unique())
    if len(truths) > 1:
        sections.append(Section("TTO against each truth", _truth_rows(table, truths)))
    words = legend(__file__, "across_seeds", seeds=int(everywhere.n[everywhere["rank"].notna()].max()))
    return Page(title, sections, [*words, directions(table.better)])


def _levels(values: pd.DataFrame, keys: Sequence[str]) -> Iterator[dict[str, Any]]:
    for group, part in values.groupby(list(keys), sort=False):
        facts = dict(zip(keys, group, strict=True))
        yield {**facts, **over_seeds(part.value), "better": METRICS[facts["measure"]].better}


def _steps(pooled: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for (kind, measure), part in pooled.groupby(["kind", "measure"], sort=False):
        by_rank = part.pivot_table(index="seed", columns="rank", values="value")
        for rank, higher in pairwise(sorted(by_rank)):
            paired = (by_rank[rank] - by_rank[higher]).dropna()
            facts = {"kind": kind, "rank": rank, "measure": f"{measure}{STEP}", "note": f"less rank {higher}"}
            yield {**facts, **over_seeds(paired)}


def _between_arms(pooled: pd.DataFrame) -> Iterator[dict[str, Any]]:
    by_seed = pooled.set_index(["rank", "measure", "seed", "kind"]).value.unstack()
    for kind in by_seed.columns.drop(FAMILY, errors="ignore") if FAMILY in by_seed else []:
        difference = (by_seed[kind] - by_seed[FAMILY]).dropna()
        for (rank, measure), paired in difference.groupby(["rank", "measure"]):
            yield {"kind": f"{kind}{LESS}{FAMILY}", "rank": rank, "measure": measure, **over_seeds(paired)}


def _floor(scores: pd.DataFrame, group: str, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for measure, part in scores.groupby("measure", sort=False):
        facts = {"note": group, "measure": f"{measure}{FLOOR}", "better": METRICS[str(measure)].better}
        for pair in part.to_dict("records"):
            yield {**facts, **{key: pair[key] for key in ("model", "truth", "value", "n")}}
        square = part.pivot_table(index="model", columns="truth", values="value").reindex(names)[list(names)]
        yield {
            **facts,
            **dict(zip(("value", "low", "high"), of_pairs(square.to_numpy()), strict=True)),
            "n": len(names),
        }


def _off_diagonal(values: np.ndarray) -> np.ndarray:
    return values[~np.eye(len(values), dtype=bool)]


def _level_rows(table: pd.DataFrame) -> list[dict[str, Cell]]:
    step = f"{AGAINST_TRUTHS[0]}{STEP}"
    steps = table[table.measure == step].set_index(["kind", "rank"])
    rows = []
    for cells, place, values in _by_arm(table):
        cells |= {_named(name): _value(values.loc[name]) for name in AGAINST_TRUTHS}
        cells[f"{METRICS[AGAINST_TRUTHS[0]].label}, step"] = _value(steps.loc[place]) if place in steps.index else None
        rows.append(cells)
    return rows


def _by_measure(table: pd.DataFrame) -> list[dict[str, Cell]]:
    return [
        {"rank": str(rank), **{METRICS[name].label: _value(part.loc[name]) for name in AGAINST_TRUTHS}}
        for rank, part in table.set_index("measure").groupby("rank")
    ]


def _floor_rows(table: pd.DataFrame) -> list[dict[str, Cell]]:
    rows = []
    for group, part in table.groupby("note", sort=False):
        for measure, values in part.groupby("measure", sort=False):
            pairs, mean = values[values.model.notna()].value, values[values.model.isna()].iloc[0]
            cells: dict[str, Cell] = {
                "two": str(group),
                "models": str(mean["n"]),
                "metric": _named(metric(str(measure))),
            }
            rows.append(cells | {"mean": _value(mean), "smallest": Value(pairs.min()), "largest": Value(pairs.max())})
    return rows


def _truth_rows(table: pd.DataFrame, truths: Sequence[str]) -> list[dict[str, Cell]]:
    levels = table[table.measure == AGAINST_TRUTHS[0]]
    return [
        cells | {truth: _value(values.loc[truth]) for truth in truths} for cells, _, values in _by_arm(levels, "truth")
    ]


def _by_arm(
    table: pd.DataFrame, by: str = "measure"
) -> Iterator[tuple[dict[str, Cell], tuple[str, int], pd.DataFrame]]:
    """Yield the first cells of each arm, its kind and rank, and its levels by their measure or truth."""
    for (kind, rank, _), levels in table.dropna(subset="arm").groupby(ARM, sort=False):
        yield {"rank": str(rank), "way": str(levels.way.iloc[0])}, (kind, rank), levels.set_index(by)


def _named(name: str) -> str:
    return labelled(METRICS[name].label, METRICS[name].better)


def _value(row: Mapping[str, Any]) -> Value:
    return Value(row["value"], None, row["low"], row["high"])
