"""One comparison of two values, and whether it comes out as a claim expects.

A value comes with what is known of its chance. Over windows it varies as the bootstrap over whole windows says. From
one training to the next it varies too, which no bootstrap over windows can see: there the interval is widened.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np
import scipy.stats

from oversmoothing.statistics import LEVEL, Difference, WindowSums, merge, paired_difference

TINY = 1e-9  # differences below this are rounding of printed numbers
ALMOST_ONE = 1 - 1e-12
WINDOWS, RESAMPLES, RESIDUALS = "windows", "resamples", "residuals"  # what an interval is from


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
        The number, most often a difference, and its 95 % interval; both ends are the number itself where it has none,
        NaN where it has too few windows for one.
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
    interval : str
        What the interval is from: "windows", "resamples", "residuals", "Fisher, n = 5 models".
    drawn : Difference or None
        The draws of windows that the interval is from.
    reach : callable or None
        From a level on one side to how far the interval then reaches above the effect; None: as the normal's.
    freedom : int
        Degrees of freedom where the margin is the half-width of Student's interval over seeds, else 0.
    order : Comparison or None
        The one whose sign this one is turned by (see `agree`).
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
    interval: str = WINDOWS
    drawn: Difference | None = field(default=None, repr=False, compare=False)
    reach: Callable[[float], float] | None = field(default=None, repr=False, compare=False)
    freedom: int = 0
    order: "Comparison | None" = None

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

    @property
    def uncertain(self) -> bool:
        """Whether it has an interval."""
        return not self.exactly and self.low < self.high

    def reach_at(self, level: float) -> float:
        """Return how far its interval reaches above the effect if a share `level` is to lie beyond."""
        if self.reach:
            return self.reach(level)
        return (self.high - self.effect) * float(scipy.stats.norm.isf(level) / scipy.stats.norm.isf(LEVEL))

    def margin_at(self, level: float) -> float:
        """Return the margin if a share `level` of trainings is to lie beyond."""
        if not self.freedom:
            return self.margin
        return self.margin * float(scipy.stats.t.isf(level, self.freedom) / scipy.stats.t.isf(LEVEL, self.freedom))


def compare(a: Value, b: Value, name: str, chance: Chance | None, bound: float = 0.0) -> Comparison:
    """Compare two values: `a` less `b` is expected to exceed `bound`.

    The interval over windows is a paired bootstrap (see `paired_difference`), all trainings together. Where a set has
    but one value, it is Student's with the sd of the differences over draws of windows. Values of one and the same
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
    scale = max(a.scale, b.scale)
    margin, freedom = (0.0, 0) if chance is None or a.trainings == b.trainings else _run_to_run(a, b, scale, chance)
    sizes = [value.n for value in (a, b) if value.n]
    effect = a.mean - b.mean
    plain = Comparison(name, effect, effect, effect, bound, margin, scale, min(sizes, default=None), freedom=freedom)
    if chance and (a.sums or b.sums):
        one, other = merge(a.sums), merge(b.sums)
        one, other = one if a.sums else _same_everywhere(a, other), other if b.sums else _same_everywhere(b, one)
        drawn = paired_difference(one, other, chance.resamples, chance.seed)
        return replace(plain, low=drawn.low, high=drawn.high, drawn=drawn)
    if a.draws and b.draws:
        differences = np.mean(a.draws, axis=0) - np.mean(b.draws, axis=0)
        sd, degrees = float(np.std(differences, ddof=1)), len(differences) - 1

        def reach(level: float) -> float:
            return sd * float(scipy.stats.t.isf(level, degrees))

        own = reach(LEVEL)
        return replace(plain, low=effect - own, high=effect + own, interval=RESAMPLES, reach=reach)
    return plain


def correlate(
    x: Sequence[float], y: Sequence[float], name: str, chance: Chance | None, bound: float = 0.0
) -> Comparison:
    """Expect Pearson's r of values of several models to exceed `bound`; the interval is Fisher's.

    Parameters
    ----------
    x, y : sequences of float
        One of each model, of at least four.
    name : str
    chance : Chance or None
        None for printed means, which have no interval.
    bound : float
    """
    n = len(x)
    r = min(max(float(np.corrcoef(x, y)[0, 1]), -ALMOST_ONE), ALMOST_ONE)  # Fisher's transform of 1 is infinite

    def reach(level: float) -> float:
        return math.tanh(math.atanh(r) + float(scipy.stats.norm.isf(level)) / math.sqrt(n - 3)) - r

    plain = Comparison(name, r, r, r, bound, n=n)
    if chance is None:
        return plain
    low, high = r + reach(1 - LEVEL), r + reach(LEVEL)
    return replace(plain, low=low, high=high, interval=f"Fisher, n = {n} models", reach=reach)


def agree(first: Comparison, second: Comparison) -> Comparison:
    """Expect two comparisons to have one sign: the second, turned by the sign of the first.

    Where the first is undecided, so is the result. The interval of the second must be as wide above as below.
    """
    sign = math.copysign(1.0, first.effect)
    low, high = sorted((sign * second.low, sign * second.high))
    margin = math.inf if first.outcome == Outcome.UNDECIDED else second.margin
    return replace(second, effect=sign * second.effect, low=low, high=high, margin=margin, order=first)


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


def _run_to_run(a: Value, b: Value, scale: float, chance: Chance) -> tuple[float, int]:
    """Return the margin, and its degrees of freedom where it is over several seeds."""
    differences = np.subtract(a.means, b.means)
    if len(differences) == 1:
        return chance.run_to_run[(a if a.trainings else b).kind] * scale, 0
    freedom = len(differences) - 1
    spread = float(np.std(differences, ddof=1)) / math.sqrt(len(differences))
    return float(scipy.stats.t.isf(LEVEL, freedom)) * spread, freedom
