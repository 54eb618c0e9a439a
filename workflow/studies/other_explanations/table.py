"""Table of what other output layers and objectives are worth beside linear heads that learn from cross-entropy."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.models.output_kinds import NOT_LINEAR
from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.numerics.statistics import holm, student_p
from oversmoothing.tables.record import over_seeds, record
from studies.other_explanations.kinds import LINEAR_HEADS, SHORTER, setting

MEASURES = {
    "loss": "nats per byte",
    "kl": "nats",
    "tto": "probability",
    "tv": "probability",
    "impossible": "probability",
    "temperature": "1",
}
LESS_FULL = "_less_full"  # at the end of a measure: less that of the linear head of the highest rank
LESS_LINEAR = "_less_linear"  # less that of the linear head of the same rank
MORE_THAN_AT_FULL = "_more_than_at_full"  # that, less the same at the highest rank: what is due to the low rank
AT_PARAMETERS = "_at_parameters"  # less that of linear heads with as many parameters, interpolated (see `at_size`)
AT_OPERATIONS = "_at_operations"  # the same with as many operations
AT_LOSS = "_at_loss"  # less that of the linear head of the highest rank, trained for fewer steps to the same loss
AT_TTO = "_at_tto"  # less that of the linear head of the same rank at the temperature with as much TTO
BETWEEN = "_between"  # of a linear head: less what its neighbours in rank give where they are interpolated
NEAR = 0.02  # of the logarithm of a size: what counts as equal to the smallest
SIZES = {"parameters": "weights", "products": "multiplications"}  # of heads
ARM = ("kind", "rank", "arm")


@dataclass(frozen=True)
class Group:
    """What models show that learned one text: by measure, an array by seed (rows) and arm (columns)."""

    values: Mapping[str, pd.DataFrame]
    arms: Mapping[str, Mapping[str, Any]]  # facts by name
    loss: str  # the measure that is the loss
    tempered: Mapping[tuple[int, str], pd.DataFrame]  # of linear heads, by seed and arm: a row each, hottest first

    @property
    def linear(self) -> list[str]:
        """Names of the arms with a linear head, lowest rank first."""
        return sorted(self._of(LINEAR_HEADS), key=lambda arm: self.arms[arm]["rank"])

    @property
    def others(self) -> list[str]:
        """Names of the arms with other heads or objectives."""
        return [arm for arm, facts in self.arms.items() if facts["kind"] not in (LINEAR_HEADS, SHORTER)]

    @property
    def control(self) -> list[str]:
        """Names of the arms with the linear head of the highest rank, the one of the fewest steps first."""
        full = self.linear[-1]
        alike = [arm for arm in self._of(SHORTER) if self.arms[arm]["rank"] == self.arms[full]["rank"]]
        return sorted([*alike, full], key=lambda arm: self.arms[arm]["steps"])

    def alike(self, arm: str, linear: str) -> bool:
        """Whether a linear head has the rank of another; of the same head under another objective also its size."""
        one, other = self.arms[arm], self.arms[linear]
        same_size = one["kind"] in NOT_LINEAR or one["parameters"] == other["parameters"]
        return bool(one["rank"] == other["rank"] and same_size)

    def _of(self, kind: str) -> list[str]:
        return [arm for arm, facts in self.arms.items() if facts["kind"] == kind]


def explanations_table(levels: pd.DataFrame, tempered: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Levels and differences of each arm, for each text, over seeds.

    Parameters
    ----------
    levels : DataFrame
        ``law`` ("" for real text), ``model``, ``measure`` (of `MEASURES`) and ``value``, its mean over positions.
        Against a law the loss is KL, which is the expected cross-entropy less the entropy of the law.
    tempered : DataFrame
        The same of linear heads at each ``temperature``: "tto" and whatever is to be compared at equal TTO.
    models : DataFrame
        ``law``, ``model`` and what `plan.of_model` says of it.

    Returns
    -------
    DataFrame
        Record: means over ``n`` seeds with 95 % intervals by Student's t; differences are paired by seed. At equal
        loss a model is compared with the linear head of the highest rank, which learned for fewer steps, over which its
        learning rate fell to 0 too; between two numbers of steps it is interpolated, for each seed. There is none where
        a seed has a loss that no number of steps gives. At equal TTO it is compared with the linear head of its rank,
        at the temperature that gives it this TTO (measure ``temperature_at_tto``), which is interpolated as well.
        Notes give p of a t-test that the difference is 0, by Holm's method over all arms of a measure and text.
        ``head_parameters`` and ``head_products`` are sizes of heads.
    """
    rows = list(_sizes(models))
    curves: dict[str, dict[tuple[int, str], pd.DataFrame]] = {}
    for (law, seed, arm), part in tempered.merge(models, on=["law", "model"]).groupby(["law", "seed", "arm"]):
        curve = part.pivot(index="temperature", columns="measure", values="value").sort_index(ascending=False)
        curves.setdefault(law, {})[seed, arm] = curve.reset_index()
    for law, part in levels.merge(models, on=["law", "model"]).groupby("law", sort=False):
        arms = {str(facts["arm"]): facts for facts in part.drop_duplicates("arm").to_dict("records")}
        values = {
            str(measure): one.pivot(index="seed", columns="arm", values="value")
            for measure, one in part.groupby("measure", sort=False)
        }
        group = Group(values, arms, "loss" if "loss" in values else "kl", curves.get(law, {}))
        known = {"law": law or None}
        rows += [known | row for row in _rows(group)]
    return record(rows)


def _sizes(models: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for facts in models.drop_duplicates("arm").to_dict("records"):
        for size, unit in SIZES.items():
            yield {**{key: facts[key] for key in ARM}, "measure": f"head_{size}", "value": facts[size], "unit": unit}


def _rows(group: Group) -> Iterator[dict[str, Any]]:
    for measure, by_arm in group.values.items():
        for arm in group.arms:
            yield _row(group, arm, measure, by_arm[arm]) | {"better": "lower"}
        for ending, difference in DIFFERENCES.items():
            paired = {arm: seeds.dropna() for arm, seeds in difference(group, measure)}
            kept = {arm: seeds for arm, seeds in paired.items() if len(seeds) == len(by_arm)}
            p = holm({arm: student_p(seeds.tolist()) for arm, seeds in kept.items()})
            for arm, seeds in kept.items():
                yield _row(group, arm, measure + ending, seeds) | {"note": f"p = {p[arm]:.2g}"}
    for arm, linear in _alike(group):
        if not (seeds := _tempered(group, arm, linear, "temperature")).isna().any():
            yield _row(group, arm, f"temperature{AT_TTO}", seeds)


def _row(group: Group, arm: str, measure: str, by_seed: pd.Series) -> dict[str, Any]:
    facts = {key: group.arms[arm][key] for key in ARM}
    return {**facts, "measure": measure, **over_seeds(by_seed), "unit": MEASURES[measure.partition("_")[0]]}


Differences = Iterator[tuple[str, pd.Series]]


def _less_full(group: Group, measure: str) -> Differences:
    values, full = group.values[measure], group.linear[-1]
    for arm in (*group.linear[:-1], *group.others):
        yield arm, values[arm] - values[full]


def _less_linear(group: Group, measure: str) -> Differences:
    values = group.values[measure]
    for arm, linear in _alike(group):
        yield arm, values[arm] - values[linear]


def _alike(group: Group) -> Iterator[tuple[str, str]]:
    """Yield the arms with other heads or objectives, each with the linear head of its rank."""
    for arm in group.others:
        yield from ((arm, linear) for linear in group.linear if group.alike(arm, linear))


def _more_than_at_full(group: Group, measure: str) -> Differences:
    gained = dict(_less_linear(group, measure))
    ranks = {arm: facts["rank"] for arm, facts in group.arms.items()}
    alike = {arm: (facts["kind"], setting(facts["kind"], arm)) for arm, facts in group.arms.items()}
    highest = ranks[group.linear[-1]]
    at_full = {alike[arm]: seeds for arm, seeds in gained.items() if ranks[arm] == highest}
    for arm, seeds in gained.items():
        if ranks[arm] != highest and alike[arm] in at_full:
            yield arm, seeds - at_full[alike[arm]]


def _at_size(size: str) -> Callable[[Group, str], Differences]:
    """Return what an output layer shows less what linear heads of the same size do."""

    def differences(group: Group, measure: str) -> Differences:
        values = group.values[measure]
        for arm in group.others:
            if group.arms[arm]["kind"] in NOT_LINEAR:
                yield arm, values[arm] - at_size(group, values, size, group.arms[arm][size], group.linear)

    return differences


def at_size(group: Group, values: pd.DataFrame, size: str, wanted: float, linear: Sequence[str]) -> pd.Series:
    """What linear heads of a size show, by seed, on a straight line in its logarithm.

    It is NaN below the smallest, and above the largest what that one shows.
    """
    known = np.log([group.arms[arm][size] for arm in linear])
    place = math.log(wanted)
    if place < known[0] - NEAR:
        return pd.Series(math.nan, values.index)
    return values[list(linear)].apply(lambda seed: float(np.interp(place, known, seed)), axis=1)


def _at_loss(group: Group, measure: str) -> Differences:
    if measure == group.loss or len(group.control) < 2:
        return
    losses, values = group.values[group.loss], group.values[measure]
    control = group.control
    for arm in (*group.linear[:-1], *group.others):
        equal = [
            at_loss(losses.loc[seed, control].tolist(), values.loc[seed, control].tolist(), losses.loc[seed, arm])
            for seed in values.index
        ]
        yield arm, values[arm] - pd.Series(equal, values.index)


def _at_tto(group: Group, measure: str) -> Differences:
    if measure == "tto":
        return
    for arm, linear in _alike(group):
        yield arm, group.values[measure][arm] - _tempered(group, arm, linear, measure)


def _tempered(group: Group, arm: str, linear: str, measure: str) -> pd.Series:
    """What a linear head shows by seed where its TTO is that of an arm; NaN where it is so at no temperature tried."""
    shown = pd.Series(math.nan, group.values["tto"].index)
    for seed, tto in group.values["tto"][arm].items():
        curve = group.tempered.get((seed, linear))
        if curve is not None and measure in curve:
            shown[seed] = at_loss(curve["tto"].tolist(), curve[measure].tolist(), tto)
    return shown


def _between(group: Group, measure: str) -> Differences:
    values = group.values[measure]
    for i, arm in enumerate(group.linear[1:-1], 1):
        neighbours = [group.linear[i - 1], group.linear[i + 1]]
        yield arm, values[arm] - at_size(group, values, "parameters", group.arms[arm]["parameters"], neighbours)


DIFFERENCES: dict[str, Callable[[Group, str], Iterable[tuple[str, pd.Series]]]] = {
    LESS_FULL: _less_full,
    LESS_LINEAR: _less_linear,
    MORE_THAN_AT_FULL: _more_than_at_full,
    AT_PARAMETERS: _at_size("parameters"),
    AT_OPERATIONS: _at_size("products"),
    AT_LOSS: _at_loss,
    AT_TTO: _at_tto,
    BETWEEN: _between,
}
