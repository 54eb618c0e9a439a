"""Quantiles over positions, with bootstrap intervals over windows.

Positions of a window are dependent, so whole windows are resampled, as in `statistics`. Values are sorted once; a draw
only changes how often each of them counts. Memory: one number a value, and a few of its size while intervals are
computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oversmoothing.numerics.statistics import LEVEL, draw_windows

BEYOND = 5  # windows with values on either side of a quantile, from which on it has an interval


@dataclass(frozen=True)
class Quantile:
    """A quantile with its 95 % interval, NaN where the values leave it open; `level` is the share that lies below."""

    level: float
    value: float
    low: float
    high: float


def window_quantiles(
    values: np.ndarray, windows: np.ndarray, levels: Sequence[float], resamples: int, seed: int
) -> list[Quantile]:
    """Return quantiles, at `levels` of 0 to 1, of values (n,), given the window of each (n,), with bootstrap intervals.

    Between two values a quantile is interpolated linearly. The bootstrap says nothing of a minimum or a maximum, and
    little of what few windows decide. So a quantile has an interval only if at least `BEYOND` windows have a value at
    or above it, and as many one at or below it. Draws are those of `statistics.summarise`.
    """
    values, windows = np.asarray(values), np.asarray(windows)
    if values.ndim != 1 or values.shape != windows.shape:
        raise ValueError(f"values {values.shape} and windows {windows.shape} must have the same shape (n,)")
    if not len(values):
        raise ValueError("there are no values to take quantiles of")
    if not np.isfinite(values).all():
        raise ValueError(f"window {windows[~np.isfinite(values)][0]} has a non-finite value")
    order = np.argsort(values, kind="stable")
    names, places = np.unique(windows, return_inverse=True)
    values, places = values[order], places[order]
    own = _at(values, np.arange(1, len(values) + 1), levels)
    known = [0 < level < 1 and _decided(values, places, value) for level, value in zip(levels, own, strict=True)]
    bounds = np.full((2, len(levels)), np.nan)
    if any(known):
        asked = [level for level, is_known in zip(levels, known, strict=True) if is_known]
        drawn = np.array(
            [
                _at(values, np.cumsum(np.bincount(draw, minlength=len(names))[places]), asked)
                for draws in draw_windows(len(names), resamples, seed)
                for draw in draws
            ]
        )
        bounds[:, known] = np.quantile(drawn, [LEVEL, 1 - LEVEL], axis=0)
    return [Quantile(*map(float, row)) for row in zip(levels, own, *bounds, strict=True)]


def _decided(values: np.ndarray, places: np.ndarray, value: float) -> bool:
    """Return whether enough windows have values on both sides of one."""
    sides = values >= value, values <= value
    return all(len(np.unique(places[side])) >= BEYOND for side in sides)


def _at(values: np.ndarray, counted: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """Return quantiles of sorted values, each as often as it counts.

    The number of values up to each, (n,), is given.
    """
    n = int(counted[-1])
    place = np.asarray(levels, float) * (n - 1)
    below = np.floor(place).astype(np.int64)
    ends = np.searchsorted(counted, [below, np.minimum(below + 1, n - 1)], side="right")
    low, high = values[ends].astype(np.float64)
    return low + (place - below) * (high - low)
