"""The law of losses, L(N, T) = A / N^alpha + B / T^beta + E, and its fit (Hoffmann et al. 2022, 3.3 and D.2).

As there, the fit is of log L, in the logarithms of A, B and E, with a Huber loss and from a grid of starting points.
Their delta is 0.001; here it is 0.01, because the validation losses of one training lie within about 1 % of such a
curve: below that they count by their squares, which makes better use of few points, and a spike above it counts
linearly.

How much of the law is determined depends on the number of model sizes. With one, A / N^alpha and E cannot be separated.
With two, every alpha fits equally well, with its own A and E.
"""

from collections.abc import Mapping, Sequence
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
    """L(N, T) = A / N^alpha + B / T^beta + E, by alpha, beta and the logarithms of the other coefficients.

    Those are taken at the geometric means N0 and T0 of the fitted points, where the terms can be compared: of A it is
    log(A / N0^alpha). With one size of model it is -inf, and E stands for A / N^alpha + E.
    """

    at: Mapping[str, float]
    centre: tuple[float, float]  # log N0, log T0

    def log_loss(self, parameters: np.ndarray, seen: np.ndarray) -> np.ndarray:
        """Return log L for arrays of N and T, shape (n,)."""
        return np.logaddexp.reduce(self.terms(np.log(parameters), np.log(seen)))

    def terms(self, n: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Return the logarithms of the three terms for log N and log T, shape (3, n)."""
        size = self.at["A"] - self.at["alpha"] * (n - self.centre[0])
        text = self.at["B"] - self.at["beta"] * (t - self.centre[1])
        return np.array([size, text, np.full_like(t, self.at["E"])])

    @property
    def values(self) -> dict[str, float]:
        """A, alpha, B, beta and E as they appear in the law."""
        a = float(np.exp(self.at["A"] + self.at["alpha"] * self.centre[0]))
        b = float(np.exp(self.at["B"] + self.at["beta"] * self.centre[1]))
        return {**self.at, "A": a, "B": b, "E": float(np.exp(self.at["E"]))}


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
    """Return the best fit to at least as many points N, T and log L, shape (n,), as the law has coefficients.

    `alpha` is assumed if there are two sizes. `start`, a fit to points of the same N and T, is the only starting point;
    by default there is a grid of them.
    """
    free = estimable(parameters)
    n, t = np.log(parameters), np.log(seen)
    centre = (float(n.mean()), float(t.mean()))
    term = (float(log_losses.min()) - 14, float(log_losses.max()) + 1)  # from a millionth of the lowest loss
    low, high = np.transpose([EXPONENTS if name in ("alpha", "beta") else term for name in free])

    def law(x: np.ndarray) -> Law:
        return Law({"A": -np.inf, "alpha": alpha} | dict(zip(free, x.tolist(), strict=True)), centre)

    def residuals(x: np.ndarray) -> np.ndarray:
        return np.logaddexp.reduce(law(x).terms(n, t)) - log_losses

    def slopes(x: np.ndarray) -> np.ndarray:
        terms = law(x).terms(n, t)
        size, text, floor = np.exp(terms - np.logaddexp.reduce(terms))
        by = {"A": size, "alpha": -size * (n - centre[0]), "B": text, "beta": -text * (t - centre[1]), "E": floor}
        return np.stack([by[name] for name in free], axis=1)

    starts = _starts(log_losses, free) if start is None else [np.array([start.at[name] for name in free])]
    fits = [
        least_squares(residuals, np.clip(x, low, high), slopes, bounds=(low, high), loss="huber", f_scale=DELTA)
        for x in starts
    ]
    return law(min(fits, key=lambda result: result.cost).x)


def leaves(losses: np.ndarray, high: np.ndarray) -> int | None:
    """Return the index from which on all losses lie above `high`, the upper end of the band at each.

    None if the last does not. No loss lies above an end that is NaN, because nothing is fitted.
    """
    not_above = np.flatnonzero(~(losses > high))
    first = int(not_above[-1]) + 1 if not_above.size else 0
    return first if first < len(losses) else None


def _starts(log_losses: np.ndarray, free: Sequence[str]) -> list[np.ndarray]:
    """Return starting points with three (or two) equal terms and each pair of exponents."""
    level = float(log_losses.mean()) - np.log(2 + ("A" in free))
    exponents = [name for name in free if name in ("alpha", "beta")]
    return [
        np.array([dict(zip(exponents, pair, strict=True)).get(name, level) for name in free])
        for pair in product(STARTS, repeat=len(exponents))
    ]
