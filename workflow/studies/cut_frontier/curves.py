"""Frontiers of decoding methods: areas, and what one gains over another, paired by window."""

import numpy as np
from scipy.special import stdtr

from oversmoothing.numerics.statistics import LEVEL, draw_windows, expanded


def frontier(leak: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leaks (..., settings) in increasing order, and the most that is kept with no more than each of them."""
    order = np.argsort(leak, axis=-1, kind="stable")
    most = np.maximum.accumulate(np.take_along_axis(kept, order, axis=-1), axis=-1)
    return np.take_along_axis(leak, order, axis=-1), most


def area(leak: np.ndarray, kept: np.ndarray, limit: np.ndarray | float) -> np.ndarray:
    """Mean (...), over leaks from 0 to `limit` (...), of the most that is kept (..., settings) with no more than that.

    Between two settings it is interpolated, for a mixture of both keeps and leaks means of theirs; below the smallest
    leak of all settings nothing is kept.
    """
    x, y = frontier(leak, kept)
    end = np.asarray(limit)[..., None]
    width, within = np.diff(x, axis=-1), np.clip(end - x[..., :-1], 0, np.diff(x, axis=-1))
    share = np.divide(within, width, out=np.zeros_like(width), where=width > 0)
    between = (within * (y[..., :-1] + np.diff(y, axis=-1) * share / 2)).sum(axis=-1)
    beyond = np.maximum(end - x[..., -1:], 0) * y[..., -1:]
    mean: np.ndarray = (between + beyond[..., 0]) / np.asarray(limit)
    return mean


def above(leak: np.ndarray, kept: np.ndarray, rival: tuple[np.ndarray, np.ndarray]) -> float:
    """What one setting, arrays (1,), keeps more than the frontier of a rival at the same leak.

    Below the smallest leak of the rival it is compared with the setting of that leak, which favours the rival.
    """
    return float(kept[0] - np.interp(leak[0], *frontier(*rival)))


def gain(effect: float, drawn: np.ndarray, windows: int) -> dict[str, float]:
    """Return a difference, ``value``, with its 95 % interval, and p of a two-sided test that it is 0.

    They are from bootstrap draws of it over so many windows (see `expanded`), the test by Student's t over windows.
    """
    sd = float(np.std(drawn, ddof=1)) if windows > 1 else np.nan
    half = expanded(LEVEL, windows) * sd if windows > 1 else np.nan
    found = {"value": effect, "low": effect - half, "high": effect + half}
    if not sd > 0:
        return {**found, "p": 1.0 if effect == 0 else np.nan}
    t = abs(effect) / (sd * np.sqrt(windows / (windows - 1)))
    return {**found, "p": float(2 * stdtr(windows - 1, -t))}


class Resampled:
    """Means of sums per window, of all windows and of bootstrap draws over them.

    They are of `sums` (windows, settings, measures) over `count` positions of each window; `resamples` and `seed` are
    those of `oversmoothing.numerics.statistics.summarise`.
    """

    def __init__(self, sums: np.ndarray, count: np.ndarray, resamples: int, seed: int) -> None:
        self.windows = len(count)
        flat = sums.reshape(self.windows, -1)
        self.means = (flat.sum(axis=0) / count.sum()).reshape(sums.shape[1:])
        times = [
            np.bincount(draw, minlength=self.windows)
            for part in draw_windows(self.windows, resamples if self.windows > 1 else 0, seed)
            for draw in part
        ]
        weights = np.array(times, float).reshape(-1, self.windows)
        self.drawn = ((weights @ flat) / (weights @ count)[:, None]).reshape(-1, *sums.shape[1:])

    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the percentile intervals, shaped as `means`; NaN of fewer than two windows."""
        if not len(self.drawn):
            return np.full_like(self.means, np.nan), np.full_like(self.means, np.nan)
        low, high = np.quantile(self.drawn, [LEVEL, 1 - LEVEL], axis=0)
        return low, high
