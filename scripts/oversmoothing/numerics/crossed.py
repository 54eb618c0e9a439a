"""Intervals over two things at once: trainings with other seeds, and windows of text that all of them read."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit  # scipy.stats takes half a second to import

from oversmoothing.numerics.statistics import LEVEL


def crossed_interval(values: ArrayLike, weights: ArrayLike) -> tuple[float, float, float]:
    """Return the mean over seeds and windows and its 95 % interval, as if both had been drawn at random.

    With y_sw = mean + a_s + b_w + e_sw, the variance of the mean is var(a) / S + var(b) / W + var(e) / SW. The variance
    of the means of seeds, over S, estimates the first and the last term; that of the means of windows, over W, the
    second and the last; so their sum counts the last twice, and what the residuals say of it is taken off once. The
    interval is Student's, with the degrees of freedom of Satterthwaite (1946). To resample both, seeds and windows
    (Owen 2007), does the same for many of each; draws of five seeds vary too little, by a factor sqrt(4 / 5).

    Parameters
    ----------
    values : array_like of float, shape (S, W)
        Mean of each window under each seed.
    weights : array_like of float, shape (W,)
        Positions of each window, by which windows are weighted.

    Returns
    -------
    mean, low, high : float
        The ends are NaN with fewer than two seeds or windows.
    """
    own, shares = np.asarray(values, dtype=float), np.asarray(weights, dtype=float)
    mean = float((own @ shares).mean() / shares.sum())
    if min(own.shape) < 2:
        return mean, math.nan, math.nan
    estimates, freedom = _variances(own, shares)
    by_seed, by_window, by_both = estimates
    variance = max(by_seed + by_window - by_both, by_seed, by_window)
    if not variance:
        return mean, mean, mean
    degrees = variance**2 / (estimates**2 / freedom).sum()
    half = float(-stdtrit(degrees, LEVEL) * math.sqrt(variance))
    return mean, mean - half, mean + half


def ratio_by_window(part: ArrayLike, whole: ArrayLike, weights: ArrayLike) -> np.ndarray:
    """Return values of windows (W,) whose weighed mean is a ratio of means, and that vary as it does, to first order.

    A ratio R = p / a of means varies with a window's p - R a over the mean of a. All three are of shape (W,).
    """
    own, of, shares = (np.asarray(values, dtype=float) for values in (part, whole, weights))
    mean = of @ shares / shares.sum()
    ratio = own @ shares / shares.sum() / mean
    return np.asarray(ratio + (own - ratio * of) / mean)


def error_of_windows(values: ArrayLike, weights: ArrayLike) -> float:
    """Return the standard error of the mean by the choice of the windows: the root of var(b) / W in `crossed_interval`.

    Parameters and model are those of `crossed_interval`. The error is 0 with fewer than two seeds or windows, and where
    windows differ by no more than the rest explains.
    """
    own = np.asarray(values, dtype=float)
    if min(own.shape) < 2:
        return 0.0
    (_, by_window, by_both), _ = _variances(own, np.asarray(weights, dtype=float))
    return math.sqrt(max(by_window - by_both, 0.0))


def _variances(own: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Estimate the variance of the mean from seeds, from windows and from the rest, with degrees of freedom."""
    seeds, windows = own.shape
    mean = (own @ shares).mean() / shares.sum()
    relative = shares * (windows / shares.sum())  # the mean is one of sums over windows, each about the mean
    of_seeds = ((own - mean) * relative).mean(axis=1)
    about = own.mean(axis=0) - mean
    of_windows, rest = about * relative, (own - mean - of_seeds[:, None] - about) * relative
    freedom = np.array([seeds - 1, windows - 1, (seeds - 1) * (windows - 1)], float)
    squares = np.array([(of_seeds**2).sum() / seeds, (of_windows**2).sum() / windows, (rest**2).mean()])
    return squares / freedom, freedom
