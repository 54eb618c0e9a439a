"""Comparison of two values, and whether the outcome is as a claim expects.

A value has a sampling distribution. Its variation over windows is given by a bootstrap over whole windows. It also
varies between trainings, which no bootstrap over windows can capture; the interval is widened for that.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np
from scipy.special import ndtri, stdtrit

from oversmoothing.numerics.statistics import LEVEL, Difference, WindowSums, merge, paired_difference, student_interval

TINY = 1e-9  # differences below this are rounding of printed numbers
ALMOST_ONE = 1 - 1e-12
WINDOWS, RESAMPLES, RESIDUALS = "windows", "resamples", "residuals"  # sources of an interval


class Missing(Exception):
    """Something that a claim needs is absent; the message says what."""


class Outcome(IntEnum):
    """Outcome of a comparison, the worst first."""

    AGAINST = 0
    UNDECIDED = 1
    HOLDS = 2


@dataclass(frozen=True)
class Chance:
    """How random variation is taken into account."""

    resamples: int  # of the bootstrap over windows
    seed: int
    # By metric ("losses", "tto", "mauve"): the share of the larger of two values below which a difference between two
    # trainings may be due to their seeds. Used if each was trained once.
    run_to_run: Mapping[str, float]


@dataclass(frozen=True)
class Value:
    """A mean to be compared: a number per training (seed), or a single one of what is not trained or only printed."""

    means: tuple[float, ...]
    trainings: tuple[str, ...] = ()  # their names, in the same order; none of what is not trained here or only printed
    kind: str = ""  # the metric, a key of `Chance.run_to_run`; not needed for what is not trained
    sums: tuple[WindowSums, ...] = ()  # values by window of each training, if available
    # For metrics that only a whole set has: values over bootstrap draws of windows, the same draws for every value.
    draws: tuple[np.ndarray, ...] = ()
    size: float | None = None  # the magnitude that `run_to_run` is a share of, if not that of the mean
    repeats: int = 1  # values of one position in one training: one for each truth

    @property
    def mean(self) -> float:
        return float(np.mean(self.means))

    @property
    def scale(self) -> float:
        return abs(self.mean) if self.size is None else self.size

    @property
    def n(self) -> int | None:
        return sum(sum(sums.count.values()) for sums in self.sums) or None

    @property
    def positions(self) -> int | None:
        """Different positions or texts behind the mean: trainings and truths share them."""
        return max((sum(sums.count.values()) for sums in self.sums), default=0) // self.repeats or None


@dataclass(frozen=True)
class Comparison:
    """A number, usually a difference, and what a claim expects of it: to be above a bound, or that bound exactly.

    Both ends of its 95 % interval equal the number if it has none, and are NaN if there are too few windows for one.
    The interval is widened by `margin` on both sides, because another training might have given another number.
    """

    name: str  # what is compared: "TTO, rank 16 against rank 32"
    effect: float
    low: float
    high: float
    bound: float = 0.0
    margin: float = 0.0
    scale: float = 1.0  # magnitude of what is compared, to determine the weakest of several comparisons
    n: int | None = None  # positions or samples on the smaller side, of all trainings and truths
    positions: int | None = None  # different ones
    exactly: bool = False
    interval: str = WINDOWS  # its source, such as "windows", "residuals" or "Fisher, n = 5 models"
    drawn: Difference | None = field(default=None, repr=False, compare=False)  # the draws of windows behind it
    # From a one-sided level to the distance from the effect to the interval's upper end; None: as for the normal.
    reach: Callable[[float], float] | None = field(default=None, repr=False, compare=False)
    freedom: int = 0  # degrees of freedom if the margin is the half-width of Student's interval over seeds
    order: "Comparison | None" = None  # the comparison whose sign this one is multiplied by (see `agree`)

    @property
    def outcome(self) -> Outcome:
        """HOLDS or AGAINST if the whole widened interval lies on that side of the bound."""
        if self.exactly:
            return Outcome.HOLDS if abs(self.effect - self.bound) <= TINY else Outcome.AGAINST
        if self.low - self.margin > self.bound + TINY:
            return Outcome.HOLDS
        if self.high + self.margin < self.bound - TINY:
            return Outcome.AGAINST
        return Outcome.UNDECIDED

    @property
    def strength(self) -> float:
        """Distance of the number beyond the bound, as a share of what is compared."""
        beyond = -abs(self.effect - self.bound) if self.exactly else self.effect - self.bound
        return beyond / self.scale if self.scale else beyond

    @property
    def uncertain(self) -> bool:
        """Whether it has an interval."""
        return not self.exactly and self.low < self.high

    def reach_at(self, level: float) -> float:
        """Return the distance from the effect to the interval's upper end at a one-sided level."""
        if self.reach:
            return self.reach(level)
        return (self.high - self.effect) * float(ndtri(level) / ndtri(LEVEL))

    def margin_at(self, level: float) -> float:
        """Return the margin at a one-sided level."""
        if not self.freedom:
            return self.margin
        return self.margin * float(stdtrit(self.freedom, level) / stdtrit(self.freedom, LEVEL))


def compare(a: Value, b: Value, name: str, chance: Chance | None, bound: float = 0.0) -> Comparison:
    """Compare two values: `a` minus `b` is expected to exceed `bound`.

    Both have the same number of trainings, in the order of their seeds, or one of them has a single mean. The interval
    over windows is a paired bootstrap (see `paired_difference`) of all trainings together. For metrics of whole sets,
    it is Student's, with the sd of the differences over draws of windows. If one of them was trained, the interval is
    widened: by a share of the larger value (`Chance.run_to_run`) if each was trained once, and with several seeds by
    the half-width of the t interval of the mean paired difference; with two seeds that is wide, as it should be. So are
    two values of one training, under two decodings for example, since another training might have differed in them by
    more or less. A share of the difference would not do: it changes no sign. Printed means (`chance` None) have no
    interval.
    """
    scale = max(a.scale, b.scale)
    trained = a.trainings or b.trainings
    margin, freedom = _run_to_run(a, b, scale, chance) if chance and trained else (0.0, 0)
    n, positions = (min((x for x in sizes if x), default=None) for sizes in ((a.n, b.n), (a.positions, b.positions)))
    effect = a.mean - b.mean
    plain = Comparison(name, effect, effect, effect, bound, margin, scale, n, positions, freedom=freedom)
    if chance and (a.sums or b.sums):
        one, other = merge(a.sums), merge(b.sums)
        one, other = one if a.sums else _same_everywhere(a, other), other if b.sums else _same_everywhere(b, one)
        drawn = paired_difference(one, other, chance.resamples, chance.seed)
        return replace(plain, low=drawn.low, high=drawn.high, drawn=drawn)
    if a.draws and b.draws:
        differences = np.mean(a.draws, axis=0) - np.mean(b.draws, axis=0)
        sd, degrees = float(np.std(differences, ddof=1)), len(differences) - 1

        def reach(level: float) -> float:
            return sd * -float(stdtrit(degrees, level))

        half = reach(LEVEL)
        return replace(plain, low=effect - half, high=effect + half, interval=RESAMPLES, reach=reach)
    return plain


def correlate(
    x: Sequence[float], y: Sequence[float], name: str, chance: Chance | None, bound: float = 0.0
) -> Comparison:
    """Compare Pearson's r over at least four models with `bound`, which it should exceed; the interval is Fisher's.

    Printed means (`chance` None) have no interval.
    """
    n = len(x)
    r = min(max(float(np.corrcoef(x, y)[0, 1]), -ALMOST_ONE), ALMOST_ONE)  # Fisher's transform of 1 is infinite

    def reach(level: float) -> float:
        return math.tanh(math.atanh(r) + float(-ndtri(level)) / math.sqrt(n - 3)) - r

    plain = Comparison(name, r, r, r, bound, n=n)
    if chance is None:
        return plain
    low, high = r + reach(1 - LEVEL), r + reach(LEVEL)
    return replace(plain, low=low, high=high, interval=f"Fisher, n = {n} models", reach=reach)


def agree(first: Comparison, second: Comparison) -> Comparison:
    """Return the second comparison multiplied by the sign of the first: the two are expected to have the same sign.

    If the first is undecided, so is the result. The interval of the second must be symmetric.
    """
    sign = math.copysign(1.0, first.effect)
    low, high = sorted((sign * second.low, sign * second.high))
    margin = math.inf if first.outcome == Outcome.UNDECIDED else second.margin
    return replace(second, effect=sign * second.effect, low=low, high=high, margin=margin, order=first)


def constant(value: float) -> Value:
    """Return a fixed number as a value to compare with."""
    return Value((value,))


def minus(a: Value, b: Value) -> Value:
    """Return the difference of two values per training, without an interval, as a value to compare further."""
    means = tuple(np.broadcast_to(np.subtract(a.means, b.means), max(len(a.means), len(b.means))).tolist())
    return Value(means, (*a.trainings, *b.trainings), a.kind, size=max(a.scale, b.scale))


def _same_everywhere(value: Value, like: WindowSums) -> WindowSums:
    """Return sums that have the one known value in every window of another set."""
    sums, windows = WindowSums(), np.array(sorted(like.count))
    sums.add(windows, np.full(len(windows), value.mean))
    return sums


def _run_to_run(a: Value, b: Value, scale: float, chance: Chance) -> tuple[float, int]:
    """Return the margin, and its degrees of freedom if it is over several seeds."""
    differences = np.subtract(a.means, b.means)
    if len(differences) == 1:
        kind = (a if a.trainings else b).kind
        try:
            return chance.run_to_run[kind] * scale, 0
        except KeyError:
            message = f"no margin for {kind} between two trainings: measure one (claims.run_to_run) or add seeds"
            raise Missing(message) from None
    mean, _, high = student_interval(differences.tolist())
    return high - mean, len(differences) - 1
