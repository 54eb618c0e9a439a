"""A contrast: differences over seeds, and the range in which a claim expects their mean."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
import pandas as pd

from oversmoothing.numerics.statistics import holm, student_interval, student_p

TINY = 1e-9  # differences below this are rounding of printed numbers
LEVEL = 0.05  # chance of a wrong decision in all contrasts of one claim
LEAST = 2  # seeds that it takes to decide anything


class Missing(Exception):
    """Something that a claim needs is absent; the message says what."""


class Outcome(IntEnum):
    """What the seeds say of a contrast, the worst first."""

    AGAINST = 0
    OPEN = 1
    FOR = 2


@dataclass(frozen=True)
class Contrast:
    """A number for each seed, mostly a difference, whose mean should lie above one bound and below another."""

    name: str  # what is compared: "TTO, rank 16 less rank 32"
    values: tuple[float, ...]  # one for each seed; a single one of what was trained once or is printed
    above: float = 0.0
    below: float = math.inf
    exact: bool = False  # whether each value must be 0, as a count must
    scale: float = 1.0  # magnitude of what is compared, so that contrasts in several units can be ordered
    error: float = 0.0  # standard error of the mean by the choice of the text, which all seeds share

    @cached_property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean by Student's t over seeds; NaN of a single one."""
        _, low, high = (0.0, math.nan, math.nan) if self.exact else student_interval(self._widened.tolist())
        return low, high

    @cached_property
    def nearer(self) -> float:
        """The bound that the mean is nearer to."""
        return self.above if abs(self.mean - self.above) <= abs(self.mean - self.below) else self.below

    @property
    def inside(self) -> float:
        """How far inside its bounds the mean lies, as a share of what is compared; negative outside of them."""
        return self._distance / self.scale

    @property
    def towards(self) -> Outcome:
        """Where the mean itself lies; OPEN on a bound, as numbers of equal printed precision may."""
        if self.exact:
            return Outcome.FOR if max(map(abs, self.values)) <= TINY else Outcome.AGAINST
        return Outcome.FOR if self._distance > TINY else Outcome.AGAINST if self._distance < -TINY else Outcome.OPEN

    @property
    def p(self) -> float:
        """The two-sided p of the decision that the mean suggests, by Student's t; NaN of a single seed.

        It is that of the nearer bound, so that between two bounds it is that of two one-sided tests (TOST).
        """
        return student_p((self._widened - self.nearer).tolist())

    @property
    def _widened(self) -> np.ndarray:
        """The values with their mean, whose standard error has that over texts added in quadrature."""
        own = np.asarray(self.values, float)
        if not self.error or len(own) < LEAST:
            return own
        about = own - self.mean if np.ptp(own) > TINY else np.linspace(-1, 1, len(own))
        spread = own.std(ddof=1) / math.sqrt(len(own))
        return self.mean + about * math.hypot(spread, self.error) / (about.std(ddof=1) / math.sqrt(len(own)))

    @property
    def _distance(self) -> float:
        return -abs(self.mean) if self.exact else min(self.mean - self.above, self.below - self.mean)


def decide(contrasts: Sequence[Contrast], level: float = LEVEL) -> list[Outcome]:
    """Return what the seeds say of each contrast, by Holm's step-down (1979) over all that are not exact."""
    adjusted = holm({str(i): one.p for i, one in enumerate(contrasts) if not one.exact})
    decided = [adjusted.get(str(i), 0.0) <= level for i in range(len(contrasts))]  # what is exact needs no test
    return [one.towards if clear else Outcome.OPEN for one, clear in zip(contrasts, decided, strict=True)]


def clearly_above_0(one: Contrast) -> bool:
    """Return whether the seeds decide that a contrast is above its bound; of a single value, whether it lies there."""
    return (decide([one])[0] if len(one.values) > 1 else one.towards) == Outcome.FOR


def less(
    name: str,
    a: pd.Series,
    b: pd.Series | float = 0.0,
    above: float = 0.0,
    below: float = math.inf,
    error: float = 0.0,
) -> Contrast:
    """Return the contrast of `a` less `b`, values by seed, paired by seed; what has no seed stands beside each."""
    scale = max(abs(float(a.mean())), abs(float(b.mean() if isinstance(b, pd.Series) else b)))
    return Contrast(name, tuple(paired(a, b)), above, below, scale=scale or 1.0, error=error)


def within(name: str, a: pd.Series, b: pd.Series, share: float, error: float = 0.0) -> Contrast:
    """Return the contrast of `a` less `b` that should lie within a share of `b`, on either side: equivalence."""
    margin = share * abs(float(b.mean()))
    return less(name, a, b, -margin, margin, error)


def outranking(a: pd.Series, b: pd.Series) -> float:
    """Return the chance that one of `a` is above one of `b`, over all pairs; equal ones count half (Mann-Whitney)."""
    differences = a.to_numpy(float)[:, None] - b.to_numpy(float)
    return float(np.mean((differences > 0) + 0.5 * (differences == 0)))


def paired(a: pd.Series, b: pd.Series | float) -> np.ndarray:
    """Return the differences of two sets of values by seed."""
    if not isinstance(b, pd.Series):
        return (a - b).to_numpy(float)
    if len(a) == 1 or len(b) == 1:
        one = a.iloc[0] if len(a) == 1 else a
        return np.atleast_1d(np.asarray(one - (b.iloc[0] if len(b) == 1 else b), float))
    differences = (a - b).dropna()
    if differences.empty:
        raise Missing("the two have no seed in common")
    return differences.to_numpy(float)
