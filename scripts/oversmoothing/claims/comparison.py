"""One comparison of two values, and whether it comes out as a claim expects.

A value comes with what is known of its chance. Over windows it varies as the bootstrap over whole windows says. From
one training to the next it varies too, which no bootstrap over windows can see: there the interval is widened.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import scipy.stats

from oversmoothing.statistics import WindowSums, merge, paired_difference

TINY = 1e-9  # differences below this are rounding of printed numbers
NORMAL = 1.96  # standard deviations of a 95 % interval


class Missing(Exception):
    """What a claim needs is not there; the message says what."""


class Outcome(IntEnum):
    """How a comparison comes out, the worst first."""

    AGAINST = 0
    UNDECIDED = 1
    HOLDS = 2


@dataclass(frozen=True)
class Chance:
    """How chance is reckoned with.

    Attributes
    ----------
    resamples, seed : int
        Of the bootstrap over windows.
    run_to_run : mapping
        By metric ("losses", "tto", "mauve"): the share of the larger of two values below which a difference between
        two trainings may be one of their seeds. Used where each was trained once.
    """

    resamples: int
    seed: int
    run_to_run: Mapping[str, float]


@dataclass(frozen=True)
class Value:
    """A mean that is to be compared.

    Attributes
    ----------
    means : tuple of float
        One per training (seed); one for what is not trained or only printed.
    trainings : tuple of str
        Their names, in the same order; empty for what is not trained here or only printed.
    kind : str
        The metric, a key of `Chance.run_to_run`; what is not trained needs none.
    sums : tuple of WindowSums
        Values by window of each training, where there are such.
    draws : tuple of arrays, shape (draws,)
        Values over bootstrap draws of windows, the same in every value, where only a set as a whole has a value.
    size : float or None
        The magnitude that `run_to_run` is a share of, where it is not that of the mean.
    """

    means: tuple[float, ...]
    trainings: tuple[str, ...] = ()
    kind: str = ""
    sums: tuple[WindowSums, ...] = ()
    draws: tuple[np.ndarray, ...] = ()
    size: float | None = None

    @property
    def mean(self) -> float:
        return float(np.mean(self.means))

    @property
    def scale(self) -> float:
        return abs(self.mean) if self.size is None else self.size

    @property
    def n(self) -> int | None:
        return sum(sum(sums.count.values()) for sums in self.sums) or None


@dataclass(frozen=True)
class Comparison:
    """A number and what a claim expects of it.

    Attributes
    ----------
    name : str
        What is compared: "TTO, rank 16 against rank 32".
    effect, low, high : float
        The number, most often a difference, and its 95 % interval over windows; both ends are the number itself
        where it has none, NaN where it has too few windows for one.
    bound : float
        The claim expects more than this.
    margin : float
        How much the interval widens on both sides, because another training might have given another number.
    scale : float
        Magnitude of what is compared, to tell which of several comparisons is the weakest.
    n : int or None
        Positions or samples on the smaller side.
    exactly : bool
        The claim expects `bound` itself and not more.
    """

    name: str
    effect: float
    low: float
    high: float
    bound: float = 0.0
    margin: float = 0.0
    scale: float = 1.0
    n: int | None = None
    exactly: bool = False

    @property
    def outcome(self) -> Outcome:
        """HOLDS or AGAINST where the whole widened interval lies on that side of the bound."""
        if self.exactly:
            return Outcome.HOLDS if abs(self.effect - self.bound) <= TINY else Outcome.AGAINST
        if self.low - self.margin > self.bound + TINY:
            return Outcome.HOLDS
        if self.high + self.margin < self.bound - TINY:
            return Outcome.AGAINST
        return Outcome.UNDECIDED

    @property
    def strength(self) -> float:
        """How far beyond the bound the number lies, as a share of what is compared."""
        beyond = -abs(self.effect - self.bound) if self.exactly else self.effect - self.bound
        return beyond / self.scale if self.scale else beyond


def compare(a: Value, b: Value, name: str, chance: Chance | None, bound: float = 0.0) -> Comparison:
    """Compare two values: `a` less `b` is expected to exceed `bound`.

    The interval over windows is a paired bootstrap (see `paired_difference`), all trainings together. Where a set has
    but one value, it is 1.96 standard deviations of the differences over draws of windows. Values of one and the same
    training are compared as they are. Between trainings the interval widens by a share of the larger value
    (`Chance.run_to_run`) if each was trained once. If there are several seeds, it widens by the half-width of the t
    interval of their mean difference, seed by seed: with two seeds that is wide, as it should be.

    Parameters
    ----------
    a, b : Value
        With as many trainings each, in the order of their seeds; or one of them with a single mean.
    name : str
    chance : Chance or None
        None for printed means, which have no interval.
    bound : float
    """
    difference = a.mean - b.mean
    low = high = difference
    if chance and (a.sums or b.sums):
        own, other = merge(a.sums), merge(b.sums)
        own, other = own if a.sums else _same_everywhere(a, other), other if b.sums else _same_everywhere(b, own)
        _, low, high = paired_difference(own, other, chance.resamples, chance.seed)
    elif a.draws and b.draws:
        reach = NORMAL * np.std(np.mean(a.draws, axis=0) - np.mean(b.draws, axis=0), ddof=1)
        low, high = difference - reach, difference + reach
    scale = max(a.scale, b.scale)
    margin = 0.0 if chance is None or a.trainings == b.trainings else _run_to_run(a, b, scale, chance)
    sizes = [value.n for value in (a, b) if value.n]
    return Comparison(name, difference, float(low), float(high), bound, margin, scale, min(sizes, default=None))


def agree(first: Comparison, second: Comparison) -> Comparison:
    """Expect two comparisons to have one sign: the second, turned by the sign of the first.

    Where the first is undecided, so is the result.
    """
    sign = math.copysign(1.0, first.effect)
    low, high = sorted((sign * second.low, sign * second.high))
    margin = math.inf if first.outcome == Outcome.UNDECIDED else second.margin
    return replace(second, effect=sign * second.effect, low=low, high=high, margin=margin)


def constant(value: float) -> Value:
    """Give a fixed number to compare with."""
    return Value((value,))


def minus(a: Value, b: Value) -> Value:
    """Give the difference of two values per training, without an interval, as a value to compare further."""
    means = tuple(np.broadcast_to(np.subtract(a.means, b.means), max(len(a.means), len(b.means))).tolist())
    return Value(means, (*a.trainings, *b.trainings), a.kind, size=max(a.scale, b.scale))


def _same_everywhere(value: Value, like: WindowSums) -> WindowSums:
    """Give every window of another set the one value that is known."""
    sums, windows = WindowSums(), np.array(sorted(like.count))
    sums.add(windows, np.full(len(windows), value.mean))
    return sums


def _run_to_run(a: Value, b: Value, scale: float, chance: Chance) -> float:
    differences = np.subtract(a.means, b.means)
    if len(differences) == 1:
        return chance.run_to_run[(a if a.trainings else b).kind] * scale
    spread = float(np.std(differences, ddof=1)) / math.sqrt(len(differences))
    return float(scipy.stats.t.ppf(0.975, len(differences) - 1)) * spread
