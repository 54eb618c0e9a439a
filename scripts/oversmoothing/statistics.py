"""Means over positions and intervals over windows, from sums per window.

Bytes of one window are not independent, windows are. So the interval of a mean comes from a bootstrap that draws
whole windows (the cluster bootstrap of Davison and Hinkley 1997, 3.8), and all that it needs of a window is how
many values it has, their sum and their sum of squares: memory grows with the windows, not with the positions.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.stats

DRAWN_AT_ONCE = 1 << 20  # windows
LEVEL = 0.025  # of a 95 % interval, on either side


@dataclass(frozen=True)
class Summary:
    """What a table says of a set of values.

    Attributes
    ----------
    mean, sd : float
        Over all values; sd with n - 1.
    n : int
        Values.
    low, high : float
        The 95 % interval of the mean; NaN with fewer than two windows, which say nothing of their spread.
    """

    mean: float
    sd: float
    n: int
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """What is known of the difference of two means.

    Attributes
    ----------
    effect, low, high : float
        The difference, and its 95 % interval; NaN with fewer than two windows.
    errors : float32 array, shape (resamples,)
        What each bootstrap draw has beyond `effect`; NaN where one of the sets has no value in it. Empty with fewer
        than two windows.
    windows : tuple of int
        Those that are drawn from. Differences over the same windows are of the same draws, one by one.
    """

    effect: float
    low: float
    high: float
    errors: np.ndarray
    windows: tuple[int, ...]


@dataclass
class WindowSums:
    """Counts, sums and sums of squares of values by window, fed block by block.

    Squares are summed about the first value seen, so that a small spread about a large mean keeps its digits.
    """

    count: dict[int, int] = field(default_factory=dict)
    total: dict[int, float] = field(default_factory=dict)
    squares: dict[int, float] = field(default_factory=dict)
    origin: float | None = None

    def add(self, windows: np.ndarray, values: np.ndarray) -> None:
        """Add a block of values.

        Parameters
        ----------
        windows : int array, shape (n,)
            The window of each value.
        values : float array, shape (n,)

        Raises
        ------
        ValueError
            If the shapes differ or a value is not finite.
        """
        if windows.shape != values.shape:
            raise ValueError(f"windows {windows.shape} and values {values.shape} must have one shape")
        if not len(values):
            return
        values = values.astype(np.float64)
        if not np.isfinite(values).all():
            raise ValueError(f"window {windows[~np.isfinite(values)][0]} has a value that is not finite")
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
        """Of all values; NaN if there are none."""
        n = sum(self.count.values())
        return (self.origin or 0.0) + sum(self.total.values()) / n if n else np.nan

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return counts, sums and sums of squares (both about `origin`) in the order of the windows' numbers."""
        order = sorted(self.count)
        return tuple(np.array([part[w] for w in order], float) for part in (self.count, self.total, self.squares))  # type: ignore[return-value]


def summarise(sums: WindowSums, resamples: int, seed: int) -> Summary:
    """Summarise values: mean, sd, and the percentile interval of the mean from a bootstrap over windows.

    Parameters
    ----------
    sums : WindowSums
    resamples : int
        Bootstrap draws.
    seed : int
        Of the draws: for one seed and number of windows they are the same, so that two summaries compare like with
        like.

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
        low, high = np.quantile(_resampled_means(count, total, resamples, seed), [0.025, 0.975])
    return Summary(origin + mean, float(np.sqrt(variance)), n, origin + float(low), origin + float(high))


def paired_difference(a: WindowSums, b: WindowSums, resamples: int, seed: int) -> Difference:
    """Compare two sets of values over the same windows: mean of `a` less mean of `b`, and its 95 % interval.

    Each bootstrap draw takes the same windows of both, so that what makes a window hard for both cancels. The interval
    is the percentile one, expanded for the few windows there may be (see `expanded`).

    Parameters
    ----------
    a, b : WindowSums
        A window may lack values in one of them. A draw in which one of them has none at all is left out.
    resamples, seed : int
        As `summarise` takes them.

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
    beyond = scipy.stats.norm.sf(expanded(LEVEL, len(windows)))
    low, high = np.nanquantile(drawn, [beyond, 1 - beyond])
    errors = (drawn - without_shift).astype(np.float32)
    return Difference(effect, shift + float(low), shift + float(high), errors, tuple(windows))


def expanded(level: float, windows: int) -> float:
    """Return how many sds of the bootstrap's draws leave a share `level` beyond them, on one side.

    The draws of n windows vary by sqrt((n - 1) / n) too little, and their sd is an estimate; so it is Student's t times
    sqrt(n / (n - 1)) and not the normal's quantile (the expanded interval of Hesterberg 2015).
    """
    return float(scipy.stats.t.isf(level, windows - 1) * np.sqrt(windows / (windows - 1)))


def critical_value(errors: np.ndarray, level: float, windows: int, both_sides: bool = False) -> float:
    """Return how many of its own sds none of several estimates errs by, except with probability `level` (max-t).

    The estimates are of the same draws, so that it is no larger than their dependence asks for: with one estimate, or
    several that are always alike, it is that of one interval; with independent ones, Bonferroni's.

    Parameters
    ----------
    errors : float array, shape (estimates, draws)
        What each draw has beyond the estimate. An estimate that never errs counts for nothing, nor does a NaN.
    level : float
        Of all together, on one side.
    windows : int
        That the draws are from; for few of them it is made larger as `expanded` does.
    both_sides : bool
        Errors of either sign count.
    """
    sd = np.nanstd(errors, axis=1, ddof=1)
    scaled = errors[sd > 0] / sd[sd > 0, None]
    if not len(scaled):
        return 0.0
    largest = np.fmax.reduce(abs(scaled) if both_sides else scaled, axis=0)
    return expanded(float(scipy.stats.norm.sf(np.nanquantile(largest, 1 - level))), windows)


def share_of_difference(
    part: WindowSums, whole: WindowSums, start: WindowSums, resamples: int, seed: int
) -> tuple[float, float, float]:
    """Say how much of a difference a part of it is: (part - start) / (whole - start), each a mean over all values.

    Parameters
    ----------
    part, whole, start : WindowSums
        Over the same windows; each bootstrap draw takes the same ones of all three.
    resamples, seed : int
        As `summarise` takes them.

    Returns
    -------
    share, low, high : float
        With the 95 % interval, expanded as that of `paired_difference`. All are NaN unless the interval of
        whole - start lies above 0: a share of nothing says nothing.

    Raises
    ------
    ValueError
        If one of the sets has no values.
    """
    own, all_of_it = (paired_difference(sums, start, resamples, seed) for sums in (part, whole))
    if not all_of_it.low > 0:  # NaN with fewer than two windows
        return np.nan, np.nan, np.nan
    beyond = scipy.stats.norm.sf(expanded(LEVEL, len(all_of_it.windows)))
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = (own.effect + own.errors) / (all_of_it.effect + all_of_it.errors)
    low, high = np.nanquantile(drawn, [beyond, 1 - beyond])
    return own.effect / all_of_it.effect, float(low), float(high)


def merge(parts: Iterable[WindowSums]) -> WindowSums:
    """Put several sets of values together, as if all had been fed into one."""
    whole = WindowSums()
    for part in parts:
        if part.origin is None:
            continue
        whole.origin = part.origin if whole.origin is None else whole.origin
        shift = part.origin - whole.origin
        for window, n in part.count.items():
            total = part.total[window]
            square = part.squares[window] + 2 * shift * total + n * shift**2
            whole.count[window] = whole.count.get(window, 0) + n
            whole.total[window] = whole.total.get(window, 0.0) + total + n * shift
            whole.squares[window] = whole.squares.get(window, 0.0) + square
    return whole


def draw_windows(windows: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """Yield the bootstrap's draws, a few rows at a time so that memory stays small.

    Yields
    ------
    int array, shape (rows, windows)
        Places of the windows drawn. For one seed and number of windows they are always the same.
    """
    generator = np.random.default_rng([seed, windows])
    for start in range(0, resamples, rows := max(1, DRAWN_AT_ONCE // windows)):
        yield generator.integers(0, windows, size=(min(rows, resamples - start), windows))


def _resampled_means(count: np.ndarray, total: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Return the mean of each bootstrap draw; NaN where a draw has no value."""
    with np.errstate(invalid="ignore"):
        draws = draw_windows(len(count), resamples, seed)
        return np.concatenate([total[draw].sum(axis=1) / count[draw].sum(axis=1) for draw in draws])


def _aligned(sums: WindowSums, windows: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return counts and sums (about the origin) of the given windows, 0 where one has no values."""
    count = np.array([sums.count.get(window, 0) for window in windows], float)
    return count, np.array([sums.total.get(window, 0.0) for window in windows])
