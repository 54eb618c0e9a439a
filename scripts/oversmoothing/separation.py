"""Separate points from the convex cone of others, or express them in it: the search behind `argmaxability`.

Non-negative least squares by the active-set method of Lawson and Hanson, "Solving Least Squares Problems" (1974,
chapter 23): the residual of a point after its best non-negative combination of others is zero, or it separates.
"""

import numpy as np

from oversmoothing.compiled import compiled


@compiled()
def separate_or_combine(rows: np.ndarray, v: int, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Look for a separating direction or a combination for each class, in floats: neither is proven here.

    Parameters
    ----------
    rows : array, shape (n, m)
        First one row per class, v of them, whose first coordinate is 1; then rays.
    v : int
    classes : int array, shape (c,)
        Rows to express by all others.

    Returns
    -------
    directions : array, shape (c, m)
        Residuals: where not zero, one separates its class.
    supports : int array, shape (c, m)
        Rows of the combination, then -1.
    """
    n, m = rows.shape
    columns, gram = np.ascontiguousarray(rows.T), rows @ rows.T
    directions, supports = np.empty((len(classes), m)), np.full((len(classes), m), -1)
    factor, weight, solution, scores = np.empty((m, m)), np.empty(m), np.empty(m), np.empty(n)
    for c in range(len(classes)):
        i, residual, active, k = classes[c], directions[c], supports[c], 0
        residual[:] = rows[i]
        for _ in range(20 * m + 50):
            best = _next(columns, residual, scores, i, v)
            if best < 0 or k == m:
                break
            active[k], weight[k] = best, 0.0
            if not _factorise(gram, active, factor, k, k + 1):
                active[k] = -1
                break
            k = _fit(gram, i, active, weight, solution, factor, k + 1)
            residual[:] = rows[i]
            for a in range(k):
                residual -= weight[a] * rows[active[a]]
    return directions, supports


@compiled()
def _next(columns: np.ndarray, residual: np.ndarray, scores: np.ndarray, i: int, v: int) -> int:
    """Choose the row that improves the fit most; -1 if none does, or if the residual already separates row i."""
    scores[:] = 0.0
    for c in range(len(residual)):
        factor, column = residual[c], columns[c]
        for j in range(len(scores)):
            scores[j] += factor * column[j]
    own = scores[i]
    scores[i] = -np.inf
    best, tolerance = 0, 1e-14 * np.sqrt(len(scores))
    for j in range(1, v):
        if scores[j] > scores[best]:
            best = j
    separated = scores[best] < own - tolerance
    for j in range(v, len(scores)):
        separated &= scores[j] <= tolerance
        if scores[j] > scores[best]:
            best = j
    return -1 if separated or scores[best] <= tolerance else best


@compiled()
def _fit(
    gram: np.ndarray, i: int, active: np.ndarray, weight: np.ndarray, solution: np.ndarray, factor: np.ndarray, k: int
) -> int:
    """Fit row i by the k active rows; drop those whose weight would turn negative; return how many stay."""
    while k:
        for a in range(k):
            total = gram[i, active[a]]
            for b in range(a):
                total -= factor[a, b] * solution[b]
            solution[a] = total / factor[a, a]
        for a in range(k - 1, -1, -1):
            total = solution[a] / factor[a, a]
            solution[a] = total
            for b in range(a):
                solution[b] -= factor[a, b] * total
        step = 1.0
        for a in range(k):
            if solution[a] <= 0:
                step = min(step, weight[a] / (weight[a] - solution[a]) if weight[a] > 0 else 0.0)
        weight[:k] += step * (solution[:k] - weight[:k])
        if step == 1.0:
            break
        first, kept = k, 0
        for a in range(k):
            if solution[a] <= 0 and weight[a] <= 1e-15:
                first = min(first, a)
            else:
                active[kept], weight[kept] = active[a], weight[a]
                kept += 1
        active[kept:k] = -1
        k = kept
        _factorise(gram, active, factor, first, k)
    return k


@compiled()
def _factorise(gram: np.ndarray, active: np.ndarray, factor: np.ndarray, start: int, end: int) -> bool:
    """Continue the Cholesky factor of the active rows' Gram matrix from row `start`; False if they are dependent."""
    for a in range(start, end):
        square = gram[active[a], active[a]]
        rest = square
        for b in range(a):
            total = gram[active[a], active[b]]
            for c in range(b):
                total -= factor[a, c] * factor[b, c]
            factor[a, b] = total / factor[b, b]
            rest -= factor[a, b] ** 2
        if rest <= 1e-13 * square:
            return False
        factor[a, a] = np.sqrt(rest)
    return True
