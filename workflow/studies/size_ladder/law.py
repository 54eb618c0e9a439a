"""The law of what a rank costs: y(N, D) = E + C (N / N0)^a (D / D0)^b, a power law in size and text above a floor.

It is fitted jointly to sizes N and texts D by least squares in log y. The exponents may have either sign: what a rank
adds can grow with the size and the text of a model, or fall. N0 and D0 are the geometric means of the fitted points.
Of one point a rung there are few, so the exponents and the floor are bounded (`EXPONENTS`, `LEAST`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import least_squares

COEFFICIENTS = ("floor", "scale", "of_size", "of_text")  # E and C, in the unit of y; a; b
EXPONENTS = (-2.0, 2.0)  # bounds of a and b
LEAST = 1e-6  # of the floor and the scale, as a share of the least y; a floor there is none
STARTS = (-0.3, 0.1, 0.5)  # of a and b
SHARES = (0.01, 0.7)  # of the floor in the least y, where a fit starts
ENDS = (2.5, 97.5)  # percentiles of a 95 % interval


@dataclass(frozen=True)
class Law:
    """y(N, D) = floor + scale (N / N0)^of_size (D / D0)^of_text, with ``centre`` (N0, D0)."""

    floor: float
    scale: float
    of_size: float
    of_text: float
    centre: tuple[float, float]

    def __call__(self, size: np.ndarray | float, text: np.ndarray | float) -> np.ndarray:
        """Return y for arrays of N and D."""
        n, d = np.asarray(size) / self.centre[0], np.asarray(text) / self.centre[1]
        return np.asarray(self.floor + self.scale * n**self.of_size * d**self.of_text)


def fit(size: np.ndarray, text: np.ndarray, y: np.ndarray, start: Law | None = None) -> Law:
    """Return the law that fits log y best in least squares.

    Parameters
    ----------
    size, text, y : arrays, shape (n,)
        N, D and what a rank costs there, all above 0; at least four points, of two sizes and two texts or more.
    start : Law, optional
        Where the fit begins; by default it begins at several points, and the best end counts.

    Raises
    ------
    ValueError
        If there are too few points, or a value is not above 0.
    """
    size, text, y = (np.asarray(values, np.float64) for values in (size, text, y))
    if len(y) < len(COEFFICIENTS) or min(len(np.unique(size)), len(np.unique(text))) < 2:
        raise ValueError(
            f"{len(y)} points of {len(np.unique(size))} sizes and {len(np.unique(text))} texts are too few"
        )
    if not (np.concatenate([size, text, y]) > 0).all():
        raise ValueError("a size, a text or a value is not above 0")
    centre = float(np.exp(np.log(size).mean())), float(np.exp(np.log(text).mean()))
    n, d, logs = np.log(size / centre[0]), np.log(text / centre[1]), np.log(y)
    term = logs.min() + np.log(LEAST), logs.max() + 1
    low, high = np.transpose([term, term, EXPONENTS, EXPONENTS])

    def terms(x: np.ndarray) -> np.ndarray:
        return np.array([np.full_like(n, x[0]), x[1] + x[2] * n + x[3] * d])

    def residuals(x: np.ndarray) -> np.ndarray:
        return np.logaddexp.reduce(terms(x)) - logs

    def slopes(x: np.ndarray) -> np.ndarray:
        of_terms = terms(x)
        floor, power = np.exp(of_terms - np.logaddexp.reduce(of_terms))
        return np.stack([floor, power, power * n, power * d], axis=1)

    level = logs.mean()
    starts = [np.array([logs.min() + np.log(share), level, a, b]) for share, a, b in product(SHARES, STARTS, STARTS)]
    if start is not None:
        moved = np.log(start.scale) + start.of_size * np.log(centre[0] / start.centre[0])
        moved += start.of_text * np.log(centre[1] / start.centre[1])
        starts = [np.array([np.log(start.floor), moved, start.of_size, start.of_text])]
    ends = [least_squares(residuals, np.clip(x, low, high), slopes, bounds=(low, high)) for x in starts]
    floor, scale, of_size, of_text = min(ends, key=lambda end: end.cost).x
    return Law(float(np.exp(floor)), float(np.exp(scale)), float(of_size), float(of_text), centre)


@dataclass(frozen=True)
class Fitted:
    """A law, and laws as it might have been fitted, each with a factor exp(e) by which an outcome may be off it."""

    law: Law
    draws: Sequence[tuple[Law, float]]
    scatter: float  # standard deviation of log y around the law; NaN where as many coefficients as points were fitted

    def predict(self, size: float, text: float) -> tuple[float, float, float]:
        """Return y at N and D, and the 95 % interval of what a single seed shows there."""
        drawn = [float(law(size, text)) * error for law, error in self.draws]
        return (float(self.law(size, text)), *_interval(drawn))

    def coefficients(self) -> Mapping[str, tuple[float, float, float]]:
        """Return each coefficient and its 95 % interval over the draws."""
        return {
            name: (getattr(self.law, name), *_interval([getattr(law, name) for law, _ in self.draws]))
            for name in COEFFICIENTS
        }


def resampled(size: np.ndarray, text: np.ndarray, values: Sequence[np.ndarray], resamples: int, seed: int) -> Fitted:
    """Return the law of means over seeds, and laws of means as they might have come.

    The points lie around the law by what seeds do and by what the law does not hold, and both are in the scatter of
    log y. A draw takes another scatter, as far as the degrees of freedom leave it open, moves all points off the law by
    it, and fits a law to them; an outcome lies off that law as a point does. Of the variance of points, what is due to
    seeds falls with their number at a rung, which of an outcome is one.

    Parameters
    ----------
    size, text : arrays, shape (n,)
        N and D of each rung.
    values : arrays, each of shape (seeds,)
        What a rank costs at each rung, by seed; their means must be above 0.
    resamples, seed : int
        Number of draws, and the seed of the draws. Where there are as many points as coefficients, nothing says how far
        the law is off: then seeds are drawn anew at each rung, and a draw with a mean of 0 or less is left out. Without
        several seeds there are no draws.
    """
    rng = np.random.default_rng(seed)
    means = np.array([own.mean() for own in values])
    law = fit(size, text, means)
    free = len(values) - len(COEFFICIENTS)
    if not free:
        again = resamples if max(map(len, values)) > 1 else 0
        drawn = [np.array([rng.choice(own, len(own)).mean() for own in values]) for _ in range(again)]
        return Fitted(law, [(fit(size, text, own, law), 1.0) for own in drawn if (own > 0).all()], float("nan"))
    said = law(size, text)
    scatter = float(np.sqrt(((np.log(means) - np.log(said)) ** 2).sum() / free))
    of_seeds = np.array([1 / len(own) for own in values] + [1.0])  # of an outcome, too
    variance = scatter**2 + _variance_of_a_seed(values) * (of_seeds - of_seeds[:-1].mean())
    draws = []
    for _ in range(resamples):
        wider = free / rng.chisquare(free)
        off = np.exp(rng.normal(size=len(of_seeds)) * np.sqrt(np.maximum(wider * variance, 0)))
        draws.append((fit(size, text, said * off[:-1], law), float(off[-1])))
    return Fitted(law, draws, scatter)


def _variance_of_a_seed(values: Sequence[np.ndarray]) -> float:
    """Return the variance of log y between seeds of a rung, to first order, from all rungs; 0 without several seeds."""
    squares = sum((((own - own.mean()) / own.mean()) ** 2).sum() for own in values)
    return float(squares / free) if (free := sum(len(own) - 1 for own in values)) else 0.0


def _interval(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return float("nan"), float("nan")
    low, high = np.percentile(values, ENDS)
    return float(low), float(high)
