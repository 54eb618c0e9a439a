"""Means over positions and intervals over windows, from sums per window.

Bytes of one window are not independent, windows are. So the interval of a mean comes from a bootstrap that draws
whole windows (the cluster bootstrap of Davison and Hinkley 1997, 3.8), and all that it needs of a window is how
many values it has, their sum and their sum of squares: memory grows with the windows, not with the positions.
"""

from dataclasses import dataclass, field

import numpy as np

DRAWN_AT_ONCE = 1 << 20  # windows


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


def _resampled_means(count: np.ndarray, total: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Return the mean of each bootstrap draw; a few draws at a time, so that memory stays small."""
    windows = len(count)
    generator = np.random.default_rng([seed, windows])
    means = []
    for start in range(0, resamples, rows := max(1, DRAWN_AT_ONCE // windows)):
        draws = generator.integers(0, windows, size=(min(rows, resamples - start), windows))
        means.append(total[draws].sum(axis=1) / count[draws].sum(axis=1))
    return np.concatenate(means)
