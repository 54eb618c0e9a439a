"""Non-negative fits of several points by rows of a matrix, side by side, each by one more row at a time.

The active-set method of Lawson and Hanson, "Solving Least Squares Problems" (1974, chapter 23). The Cholesky factor of
the rows' Gram matrix grows by a row, and shrinks by Givens rotations.
"""

import numpy as np

from oversmoothing.numerics.compiled import compiled


class Fits:
    """Fits at a number of places."""

    def __init__(self, places: int, m: int) -> None:
        self.residual = np.empty((places, m))  # of each point
        self.active = np.full((places, m), -1)  # rows in each fit, padded with -1
        self.weight = np.empty((places, m))  # theirs; undefined for the padding
        self.count = np.zeros(places, int)  # of rows in the fit
        self.spent = np.zeros(places, int)  # rows added so far, with those dropped since
        self._point, self._product = np.empty((places, m)), np.empty((places, m))
        self._factor = np.empty((places, m, m))

    def take(self, place: int, point: np.ndarray) -> None:
        """Begin with another point, which is its own residual."""
        self._point[place] = self.residual[place] = point
        self.active[place] = -1
        self.count[place] = self.spent[place] = 0

    def add(self, rows: np.ndarray, places: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Add a row to the fit at each of the places; return where it is neither complete nor at a standstill."""
        fits = (self._point, self._product, self.active, self.weight, self._factor, self.count, self.residual)
        self.spent[places] += 1
        return _add(rows, places, chosen, *fits)


@compiled()
def _add(
    rows: np.ndarray,
    places: np.ndarray,
    chosen: np.ndarray,
    point: np.ndarray,
    product: np.ndarray,
    active: np.ndarray,
    weight: np.ndarray,
    factor: np.ndarray,
    count: np.ndarray,
    residual: np.ndarray,
) -> np.ndarray:
    """Add its chosen row to the fit at each place; return where it can go on."""
    m = rows.shape[1]
    solution, goes_on = np.empty(m), np.ones(len(places), np.bool_)
    for b in range(len(places)):
        p, row = places[b], rows[chosen[b]]
        k = count[p]
        rest = np.dot(row, row)
        limit = 1e-13 * rest
        for a in range(k):
            total = np.dot(row, rows[active[p, a]]) - np.dot(factor[p, a, :a], factor[p, k, :a])
            factor[p, k, a] = total / factor[p, a, a]
            rest -= factor[p, k, a] ** 2
        if rest <= limit:
            goes_on[b] = False
            continue
        factor[p, k, k] = np.sqrt(rest)
        active[p, k], weight[p, k], product[p, k] = chosen[b], 0.0, np.dot(row, point[p])
        k = _fit(active[p], weight[p], product[p], solution, factor[p], k + 1)
        count[p] = k
        residual[p] = point[p]
        for a in range(k):
            residual[p] -= weight[p, a] * rows[active[p, a]]
        kept = False
        for a in range(k):
            kept |= active[p, a] == chosen[b]
        goes_on[b] = kept and k < m
    return goes_on


@compiled()
def _fit(
    active: np.ndarray, weight: np.ndarray, product: np.ndarray, solution: np.ndarray, factor: np.ndarray, k: int
) -> int:
    """Fit by the k active rows, drop those whose weight would become negative, and return how many remain."""
    while k:
        for a in range(k):
            solution[a] = (product[a] - np.dot(factor[a, :a], solution[:a])) / factor[a, a]
        for a in range(k - 1, -1, -1):
            solution[a] /= factor[a, a]
            solution[:a] -= solution[a] * factor[a, :a]
        step, first_zero = 1.0, -1
        for a in range(k):
            if solution[a] <= 0:
                until_zero = weight[a] / (weight[a] - solution[a]) if weight[a] > 0 else 0.0
                if until_zero < step:
                    step, first_zero = until_zero, a
        for a in range(k):
            weight[a] += step * (solution[a] - weight[a])
        if first_zero < 0:
            break
        weight[first_zero] = 0.0  # not only up to rounding, so that each turn drops a row
        for a in range(k - 1, -1, -1):
            if solution[a] <= 0 and weight[a] <= 1e-15:
                _drop(active, weight, product, factor, a, k)
                k -= 1
    return k


@compiled()
def _drop(active: np.ndarray, weight: np.ndarray, product: np.ndarray, factor: np.ndarray, a: int, k: int) -> None:
    """Remove row a of k from the fit, and from the Cholesky factor by Givens rotations."""
    active[a : k - 1], weight[a : k - 1], product[a : k - 1] = active[a + 1 : k], weight[a + 1 : k], product[a + 1 : k]
    active[k - 1] = -1
    for r in range(a, k - 1):
        factor[r, : r + 2] = factor[r + 1, : r + 2]
    for c in range(a, k - 1):
        x, y = factor[c, c], factor[c, c + 1]
        length = np.hypot(x, y)
        cosine, sine = x / length, y / length
        for r in range(c, k - 1):
            x, y = factor[r, c], factor[r, c + 1]
            factor[r, c], factor[r, c + 1] = cosine * x + sine * y, cosine * y - sine * x
