"""Means over positions and bootstrap intervals over windows, from sums per window.

Bytes within a window are dependent, windows are not, so intervals come from a bootstrap over whole windows (the cluster
bootstrap of Davison and Hinkley 1997, 3.8). It needs only the count, sum and sum of squares of each window: memory
grows with the number of windows, not of positions.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtr, stdtrit  # scipy.stats takes half a second to import

DRAWN_AT_ONCE = 1 << 20  # windows
LEVEL = 0.025  # in each tail of a 95 % interval


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation (with n - 1) and 95 % interval of n values; NaN where values or windows are too few."""

    mean: float
    sd: float
    n: int
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """Difference of two means, its 95 % interval (NaN with fewer than two windows) and its bootstrap distribution.

    `errors`, float32 (resamples,), is each draw minus `effect`: NaN where one of the sets has no value in the draw,
    empty with fewer than two windows. Differences over the same `windows` share their draws one by one.
    """

    effect: float
    low: float
    high: float
    errors: np.ndarray
    windows: tuple[int, ...]


@dataclass
class WindowSums:
    """Counts, sums and sums of squares of values per window, accumulated block by block.

    Squares are summed about the first value seen, so that a small spread about a large mean keeps its precision.
    """

    count: dict[int, int] = field(default_factory=dict)
    total: dict[int, float] = field(default_factory=dict)
    squares: dict[int, float] = field(default_factory=dict)
    origin: float | None = None

    @classmethod
    def of(cls, windows: ArrayLike, values: ArrayLike) -> "WindowSums":
        """Return the sums of all values at once, as `add` takes them."""
        sums = cls()
        sums.add(np.asarray(windows), np.asarray(values))
        return sums

    def add(self, windows: np.ndarray, values: np.ndarray) -> None:
        """Add values, float (n,), given the window of each, int (n,); a `ValueError` if one is not finite."""
        if not len(values):
            return
        values = values.astype(np.float64)
        if not np.isfinite(values).all():
            raise ValueError(f"window {windows[~np.isfinite(values)][0]} has a non-finite value")
        if self.origin is None:
            self.origin = float(values[0])
        values = values - self.origin
        names, places = np.unique(windows, return_inverse=True)
        counts = np.bincount(places)
        totals, squares = np.bincount(places, values), np.bincount(places, values**2)
        for name, n, total, square in zip(names.tolist(), counts, totals, squares, strict=True):
            self.count[name] = self.count.get(name, 0) + int(n)
            self.total[name] = self.total.get(name, 0.0) + float(total)
            self.squares[name] = self.squares.get(name, 0.0) + float(square)

    @property
    def mean(self) -> float:
        """Mean of all values; NaN if there are none."""
        n = sum(self.count.values())
        return (self.origin or 0.0) + sum(self.total.values()) / n if n else np.nan

    def totals(self) -> dict[int, float]:
        """Return the sum of the values of each window."""
        return {window: total + (self.origin or 0.0) * self.count[window] for window, total in self.total.items()}

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return counts, sums and sums of squares (the last two about `origin`), ordered by window number."""
        order = sorted(self.count)
        return tuple(np.array([part[w] for w in order], float) for part in (self.count, self.total, self.squares))  # type: ignore[return-value]


def summarise(sums: WindowSums, resamples: int, seed: int) -> Summary:
    """Return mean, sd and the percentile bootstrap interval of the mean over windows.

    Parameters
    ----------
    sums : WindowSums
    resamples : int
        Number of bootstrap draws.
    seed : int
        Seed of the draws. The same seed and number of windows give the same draws, so summaries are comparable.

    Raises
    ------
    ValueError
        If there are no values.
    """
    count, total, squares = sums.arrays()
    n = int(count.sum())
    if not n:
        raise ValueError("there are no values to summarise")
    origin = sums.origin or 0.0
    mean = total.sum() / n
    variance = max(0.0, squares.sum() - n * mean**2) / (n - 1) if n > 1 else np.nan
    low, high = np.nan, np.nan
    if len(count) > 1:
        low, high = np.quantile(_resampled_means(count, total, resamples, seed), [LEVEL, 1 - LEVEL])
    return Summary(origin + mean, float(np.sqrt(variance)), n, origin + float(low), origin + float(high))


def student_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and its 95 % interval by Student's t; an interval of NaN for fewer than two values."""
    own = np.asarray(values, dtype=float)
    mean = float(own.mean())
    if len(own) < 2:
        return mean, math.nan, math.nan
    half = float(-stdtrit(len(own) - 1, LEVEL) * own.std(ddof=1) / math.sqrt(len(own)))
    return mean, mean - half, mean + half


def student_p(values: Sequence[float]) -> float:
    """Return p of a two-sided t-test that the mean is 0; NaN for fewer than two values."""
    own = np.asarray(values, dtype=float)
    if len(own) < 2:
        return math.nan
    error = own.std(ddof=1) / math.sqrt(len(own))
    if not error:
        return 0.0 if own.any() else 1.0
    return float(2 * stdtr(len(own) - 1, -abs(own.mean()) / error))


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Adjust p values of several tests so that all their rejections hold together (Holm 1979); NaN stays NaN."""
    adjusted, largest = dict(p), 0.0
    ordered = sorted((name for name in p if not np.isnan(p[name])), key=lambda name: p[name])
    for i, name in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - i) * p[name]))
        adjusted[name] = largest
    return adjusted


def paired_difference(a: WindowSums, b: WindowSums, resamples: int, seed: int) -> Difference:
    """Return the mean of `a` minus the mean of `b` over the same windows, with a 95 % interval.

    Each bootstrap draw takes the same windows of both sets, so that the difficulty of a window cancels. The interval is
    the percentile interval, expanded to correct for a small number of windows (see `expanded`).

    Parameters
    ----------
    a, b : WindowSums
        A window may lack values in one of them. Draws in which one of them has no values are ignored.
    resamples, seed : int
        As in `summarise`.

    Raises
    ------
    ValueError
        If one of the sets has no values.
    """
    if not a.count or not b.count:
        raise ValueError("there are no values to compare")
    windows = sorted(a.count.keys() | b.count.keys())
    count_a, total_a = _aligned(a, windows)
    count_b, total_b = _aligned(b, windows)
    shift = (a.origin or 0.0) - (b.origin or 0.0)
    without_shift = total_a.sum() / count_a.sum() - total_b.sum() / count_b.sum()
    effect = float(shift + without_shift)
    if len(windows) < 2:
        return Difference(effect, np.nan, np.nan, np.zeros(0, np.float32), tuple(windows))
    drawn = _resampled_means(count_a, total_a, resamples, seed) - _resampled_means(count_b, total_b, resamples, seed)
    beyond = ndtr(-expanded(LEVEL, len(windows)))
    low, high = np.nanquantile(drawn, [beyond, 1 - beyond])
    errors = (drawn - without_shift).astype(np.float32)
    return Difference(effect, shift + float(low), shift + float(high), errors, tuple(windows))


def expanded(level: float, windows: int) -> float:
    """Return the one-sided critical value, in bootstrap standard deviations, that leaves a share `level` beyond it.

    Bootstrap draws of n windows vary too little by a factor sqrt((n - 1) / n), and their sd is itself an estimate;
    hence Student's t times sqrt(n / (n - 1)) instead of the normal quantile (the expanded interval of Hesterberg 2015).
    """
    return float(-stdtrit(windows - 1, level) * np.sqrt(windows / (windows - 1)))


def share_of_difference(
    part: WindowSums, whole: WindowSums, start: WindowSums, resamples: int, seed: int
) -> tuple[float, float, float]:
    """Return a part as a share of a difference, (part - start) / (whole - start) of means, and its 95 % interval.

    Each draw takes the same windows of all three; the interval is expanded as in `paired_difference`. All are NaN
    unless the interval of whole - start lies above 0, because a share of a difference that may be 0 is meaningless.
    """
    own, all_of_it = (paired_difference(sums, start, resamples, seed) for sums in (part, whole))
    if not all_of_it.low > 0:  # NaN with fewer than two windows
        return np.nan, np.nan, np.nan
    beyond = ndtr(-expanded(LEVEL, len(all_of_it.windows)))
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = (own.effect + own.errors) / (all_of_it.effect + all_of_it.errors)
    low, high = np.nanquantile(drawn, [beyond, 1 - beyond])
    return own.effect / all_of_it.effect, float(low), float(high)


def share_of_mean(part: WindowSums, whole: WindowSums, resamples: int, seed: int) -> tuple[float, float, float]:
    """Return one mean as a share of another, and its interval, as `share_of_difference` from 0."""
    zeros = dict.fromkeys(whole.count, 0.0)
    return share_of_difference(part, whole, WindowSums(dict(whole.count), zeros, zeros, origin=0.0), resamples, seed)


def draw_windows(windows: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """Yield the bootstrap draws of a seed and number of windows as int arrays of indices, a few rows at a time."""
    generator = np.random.default_rng([seed, windows])
    for start in range(0, resamples, rows := max(1, DRAWN_AT_ONCE // windows)):
        yield generator.integers(0, windows, size=(min(rows, resamples - start), windows))


def _resampled_means(count: np.ndarray, total: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Return the mean of each bootstrap draw; NaN where a draw has no values."""
    with np.errstate(invalid="ignore"):
        draws = draw_windows(len(count), resamples, seed)
        return np.concatenate([total[draw].sum(axis=1) / count[draw].sum(axis=1) for draw in draws])


def _aligned(sums: WindowSums, windows: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return counts and sums (about the origin) of the given windows; 0 where a window has no values."""
    count = np.array([sums.count.get(window, 0) for window in windows], float)
    return count, np.array([sums.total.get(window, 0.0) for window in windows])
