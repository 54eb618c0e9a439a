"""Table of what other output layers and objectives are worth beside linear heads that learn from cross-entropy."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.models.output_kinds import NOT_LINEAR
from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.numerics.statistics import holm, student_p
from oversmoothing.tables.contrasts import means
from oversmoothing.tables.record import record
from studies.other_explanations.kinds import LINEAR_HEADS, SHORTER, setting

MEASURES = {
    "loss": "nats per byte",
    "kl": "nats",
    "tto": "probability",
    "tv": "probability",
    "impossible": "probability",
    "temperature": "1",
}
# What differences are from (`less`), beside the linear head of the same rank, `LINEAR_HEADS`:
FULL = "full"  # the linear head of the highest rank
GAIN = "gain at full rank"  # of what is gained on that of the same rank: what is not due to the low rank
PARAMETERS = "equal parameters"  # linear heads with as many, interpolated (see `at_size`)
OPERATIONS = "equal operations"
EQUAL_LOSS = "equal loss"  # the linear head of the highest rank, trained for fewer steps to the same loss
EQUAL_TTO = "equal TTO"  # the linear head of the same rank at the temperature with as much TTO
NEIGHBOURS = "neighbours"  # of a linear head: what those next in rank give where they are interpolated
LESS = (FULL, LINEAR_HEADS, GAIN, PARAMETERS, OPERATIONS, EQUAL_LOSS, EQUAL_TTO, NEIGHBOURS)
NEAR = 0.02  # of the logarithm of a size: what counts as equal to the smallest
SIZES = {"parameters": "weights", "products": "multiplications"}  # of heads
ARM = ("kind", "rank", "arm")


@dataclass(frozen=True)
class Group:
    """What models show that learned one text."""

    values: Mapping[str, pd.DataFrame]  # by arm, and then by seed (rows) and measure (columns)
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

    def alike(self, arm: str) -> str | None:
        """Return the name of the linear head of its rank.

        Beside the same head under another objective, it is one of its size.
        """
        one = self.arms[arm]
        for linear in self.linear if arm in self.others else ():
            other = self.arms[linear]
            same_size = one["kind"] in NOT_LINEAR or one["parameters"] == other["parameters"]
            if one["rank"] == other["rank"] and same_size:
                return linear
        return None

    def _of(self, kind: str) -> list[str]:
        return [arm for arm, facts in self.arms.items() if facts["kind"] == kind]


def explanations_table(levels: pd.DataFrame, tempered: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return the record of levels and differences of each arm, for each text.

    They are means over ``n`` seeds with 95 % intervals.

    `levels` has the ``law`` ("" for real text), ``model``, ``measure`` (of `MEASURES`) and ``value``, its mean over
    positions; against a law the loss is KL, the expected cross-entropy less the entropy of the law. `tempered` has the
    same of linear heads at each ``temperature``; `models` has ``law``, ``model`` and what `plan.of_model` says.
    Intervals are Student's t, differences paired by seed; ``p`` is of a t-test that one is 0, by Holm's method over all
    arms of a measure and text. At equal loss or TTO values are interpolated for each seed; if one has none, no row.
    """
    made = [_sizes(models)]
    curves: dict[str, dict[tuple[int, str], pd.DataFrame]] = {}
    for (law, seed, arm), part in tempered.merge(models, on=["law", "model"]).groupby(["law", "seed", "arm"]):
        curve = part.pivot(index="temperature", columns="measure", values="value").sort_index(ascending=False)
        curves.setdefault(law, {})[seed, arm] = curve.reset_index()
    for law, part in levels.merge(models, on=["law", "model"]).groupby("law", sort=False):
        arms = {str(facts["arm"]): facts for facts in part.drop_duplicates("arm").to_dict("records")}
        values = {
            str(arm): own.pivot(index="seed", columns="measure", values="value")
            for arm, own in part.groupby("arm", sort=False)
        }
        loss = "loss" if (part.measure == "loss").any() else "kl"
        group = Group(values, arms, loss, curves.get(law, {}))
        made += [own.assign(law=law or None) for own in _of_law(group)]
    table = record(pd.concat(made))
    level = table.less.isna() & table.measure.isin(set(MEASURES) - {"temperature"})
    unit = table.unit.fillna(table.measure.map(MEASURES))
    return table.assign(unit=unit, better=pd.Series("lower", table.index).where(level))


def _sizes(models: pd.DataFrame) -> pd.DataFrame:
    sizes = models.drop_duplicates("arm").melt(list(ARM), list(SIZES), var_name="measure")
    return sizes.assign(unit=sizes.measure.map(SIZES), measure="head_" + sizes.measure)


def _of_law(group: Group) -> Iterator[pd.DataFrame]:
    """Yield rows of levels, of temperatures at equal TTO, and of each difference, with p."""
    tempered = {arm: _tempered(group, arm)[["temperature"]] for arm in group.others if group.alike(arm)}
    yield means(*(_by_seed(group, arm, own) for arm, own in (*group.values.items(), *tempered.items())))
    differences = {arm: _differences(group, arm) for arm in group.arms}
    for less in LESS:
        found = [_by_seed(group, arm, own[less]) for arm, own in differences.items() if less in own]
        for _, part in pd.concat(found).groupby("measure", sort=False) if found else ():
            if len(rows := means(part.assign(less=less))):
                p = holm({arm: student_p(own.value.tolist()) for arm, own in part.groupby("arm")})
                yield rows.assign(p=rows.arm.map(p))


def _by_seed(group: Group, arm: str, values: pd.DataFrame) -> pd.DataFrame:
    tidy = values.melt(var_name="measure", ignore_index=False).reset_index()
    return tidy.assign(**{key: group.arms[arm][key] for key in ARM})


def _differences(group: Group, arm: str) -> dict[str, pd.DataFrame]:
    """Return an arm's values less each of its `_bases`, and `GAIN`, by what is subtracted."""
    less = {name: group.values[arm] - base for name, base in _bases(group, arm)}
    known = {name: (facts["kind"], setting(facts["kind"], name)) for name, facts in group.arms.items()}
    rank, highest = (group.arms[name]["rank"] for name in (arm, group.linear[-1]))
    at_full = [name for name in group.others if known[name] == known[arm] and group.arms[name]["rank"] == highest]
    if LINEAR_HEADS in less and rank != highest and at_full and (linear := group.alike(at_full[-1])):
        less[GAIN] = less[LINEAR_HEADS] - (group.values[at_full[-1]] - group.values[linear])
    return less


def _bases(group: Group, arm: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield what is subtracted from an arm's values."""
    linear, own = group.linear, group.values[arm]
    if arm in (*linear[:-1], *group.others):
        yield FULL, group.values[linear[-1]]
        control, loss = [group.values[name] for name in group.control], group.loss
        if len(control) > 1:
            losses = {seed: [one.at[seed, loss] for one in control] for seed in own.index}
            equal = _each(control, lambda seed, shown: at_loss(losses[seed], shown, own.at[seed, loss]))
            yield EQUAL_LOSS, equal.drop(columns=loss)
    if alike := group.alike(arm):
        yield LINEAR_HEADS, group.values[alike]
        yield EQUAL_TTO, _tempered(group, arm)
    if group.arms[arm]["kind"] in NOT_LINEAR:
        yield PARAMETERS, at_size(group, arm, "parameters", linear)
        yield OPERATIONS, at_size(group, arm, "products", linear)
    if arm in linear[1:-1]:
        place = linear.index(arm)
        yield NEIGHBOURS, at_size(group, arm, "parameters", [linear[place - 1], linear[place + 1]])


def at_size(group: Group, arm: str, size: str, linear: Sequence[str]) -> pd.DataFrame:
    """Return what linear heads of the size of an arm show, on a line in its logarithm.

    It is NaN below the smallest of them.
    """
    known = np.log([group.arms[name][size] for name in linear])
    place = math.log(group.arms[arm][size])
    if place < known[0] - NEAR:
        return group.values[linear[0]] * math.nan
    return _each([group.values[name] for name in linear], lambda _, shown: float(np.interp(place, known, shown)))


def _each(frames: Sequence[pd.DataFrame], line: Callable[[Any, list[float]], float]) -> pd.DataFrame:
    """Apply a function of a seed and of what several arms show to each seed and measure."""
    seeds = frames[0].index
    return pd.DataFrame(
        {name: [line(seed, [own.at[seed, name] for own in frames]) for seed in seeds] for name in frames[0]}, seeds
    )


def _tempered(group: Group, arm: str) -> pd.DataFrame:
    """Return what the linear head of its rank shows where its TTO is that of an arm.

    It is NaN where it is so at no temperature.
    """
    rows = {}
    for seed, tto in group.values[arm]["tto"].items():
        curve = group.tempered.get((seed, str(group.alike(arm))), pd.DataFrame({"tto": [], "temperature": []}))
        rows[seed] = {
            name: at_loss(curve["tto"].tolist(), curve[name].tolist(), tto) for name in curve if name != "tto"
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("seed")
