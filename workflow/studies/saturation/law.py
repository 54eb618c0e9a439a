"""The law of losses, L(N, T) = A / N^alpha + B / T^beta + E, and its fit (Hoffmann et al. 2022, 3.3 and D.2).

As there, the fit is of log L, in the logarithms of A, B and E, with a Huber loss and from a grid of starting points.
Their delta is 0.001; here it is 0.01, because the validation losses of one training lie within about 1 % of such a
curve: below that they count by their squares, which makes better use of few points, and a spike above it counts
linearly.

How much of the law is determined depends on the number of model sizes. With one, A / N^alpha and E cannot be separated.
With two, every alpha fits equally well, with its own A and E.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import least_squares

DELTA = 0.01  # of log L
EXPONENTS = (0.01, 3.0)  # bounds of alpha and beta
ALPHA = 0.34  # Hoffmann et al. (2022), equation 10
ALPHAS = (0.1, 1.0)  # range of alpha where two sizes leave it undetermined
ONE_SIZE = 1.1  # sizes whose ratio is below this count as one
STARTS = (0.1, 0.3, 1.0)  # exponents
ORDER = ("A", "alpha", "B", "beta", "E")
FREE = {1: ("B", "beta", "E"), 2: ("A", "B", "beta", "E"), 3: ORDER}


@dataclass(frozen=True)
class Law:
    """L(N, T) = A / N^alpha + B / T^beta + E, parametrised by the logarithms of its coefficients.

    They are given at the geometric means N0 and T0 of the fitted points, where the terms can be compared: ``size`` =
    log(A / N0^alpha), ``text`` = log(B / T0^beta), ``floor`` = log E. With one size of model, ``size`` is -inf and
    ``floor`` represents A / N^alpha + E.
    """

    size: float
    alpha: float
    text: float
    beta: float
    floor: float
    centre: tuple[float, float]  # log N0, log T0

    def log_loss(self, parameters: np.ndarray, seen: np.ndarray) -> np.ndarray:
        """Return log L for arrays of N and T, shape (n,)."""
        return np.logaddexp.reduce(self.terms(np.log(parameters), np.log(seen)))

    def terms(self, n: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Return the logarithms of the three terms for log N and log T, shape (3, n)."""
        size = self.size - self.alpha * (n - self.centre[0])
        text = self.text - self.beta * (t - self.centre[1])
        return np.array([size, text, np.full_like(t, self.floor)])

    @property
    def values(self) -> dict[str, float]:
        """A, alpha, B, beta and E as they appear in the law."""
        a = float(np.exp(self.size + self.alpha * self.centre[0]))
        b = float(np.exp(self.text + self.beta * self.centre[1]))
        return {"A": a, "alpha": self.alpha, "B": b, "beta": self.beta, "E": float(np.exp(self.floor))}


def sizes(parameters: np.ndarray) -> int:
    """Return the number of distinct sizes in N, shape (n,); sizes within 10 % of a smaller one count as the same."""
    distinct: list[float] = []
    for size in np.unique(parameters):
        if not distinct or size > ONE_SIZE * distinct[-1]:
            distinct.append(float(size))
    return len(distinct)


def estimable(parameters: np.ndarray) -> tuple[str, ...]:
    """Return which coefficients of the law can be fitted to models of these sizes N, shape (n,)."""
    return FREE[min(sizes(parameters), 3)]


def fit(
    parameters: np.ndarray, seen: np.ndarray, log_losses: np.ndarray, alpha: float = ALPHA, start: Law | None = None
) -> Law:
    """Fit the law to at least as many losses as it has coefficients.

    Parameters
    ----------
    parameters, seen, log_losses : float arrays, shape (n,)
        N, T and log L of the points of all histories concatenated.
    alpha : float
        The alpha assumed if there are two sizes.
    start : Law, optional
        The only starting point; by default a grid.

    Returns
    -------
    Law
        The best fit over all starts.
    """
    free = estimable(parameters)
    n, t = np.log(parameters), np.log(seen)
    centre = (float(n.mean()), float(t.mean()))
    low, high = _bounds(log_losses, free)

    def law(x: np.ndarray) -> Law:
        at = {"A": -np.inf, "alpha": alpha} | dict(zip(free, x.tolist(), strict=True))
        return Law(at["A"], at["alpha"], at["B"], at["beta"], at["E"], centre)

    def residuals(x: np.ndarray) -> np.ndarray:
        return np.logaddexp.reduce(law(x).terms(n, t)) - log_losses

    def slopes(x: np.ndarray) -> np.ndarray:
        terms = law(x).terms(n, t)
        size, text, floor = np.exp(terms - np.logaddexp.reduce(terms))
        by = {"A": size, "alpha": -size * (n - centre[0]), "B": text, "beta": -text * (t - centre[1]), "E": floor}
        return np.stack([by[name] for name in free], axis=1)

    starts = _starts(log_losses, free) if start is None else [_as_start(start, free, centre)]
    fits = [
        least_squares(residuals, np.clip(x, low, high), slopes, bounds=(low, high), loss="huber", f_scale=DELTA)
        for x in starts
    ]
    return law(min(fits, key=lambda result: result.cost).x)


def leaves(losses: np.ndarray, high: np.ndarray) -> int | None:
    """Index from which on all losses lie above `high`, the upper end of the band at each; None if the last does not.

    No loss lies above an end that is NaN, because nothing is fitted.
    """
    not_above = np.flatnonzero(~(losses > high))
    first = int(not_above[-1]) + 1 if not_above.size else 0
    return first if first < len(losses) else None


def _bounds(log_losses: np.ndarray, free: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Bound each term between a millionth of the lowest loss and a little above the highest."""
    term = (float(log_losses.min()) - 14, float(log_losses.max()) + 1)
    pairs = [EXPONENTS if name in ("alpha", "beta") else term for name in free]
    return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])


def _starts(log_losses: np.ndarray, free: Sequence[str]) -> list[np.ndarray]:
    """Return starting points with three (or two) equal terms and each pair of exponents."""
    level = float(log_losses.mean()) - np.log(2 + ("A" in free))
    exponents = [name for name in free if name in ("alpha", "beta")]
    return [
        np.array([dict(zip(exponents, pair, strict=True)).get(name, level) for name in free])
        for pair in product(STARTS, repeat=len(exponents))
    ]


def _as_start(law: Law, free: Sequence[str], centre: tuple[float, float]) -> np.ndarray:
    size = law.size + law.alpha * (law.centre[0] - centre[0])
    text = law.text + law.beta * (law.centre[1] - centre[1])
    by = {"A": size, "alpha": law.alpha, "B": text, "beta": law.beta, "E": law.floor}
    return np.array([by[name] for name in free])
