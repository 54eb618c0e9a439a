"""Separate points from the convex cone of others, or express them in it: the search behind `argmaxability`.

In enough dimensions most classes lead somewhere, and reflections find such a direction (Grivas, Bogoychev and Lopez,
ACL 2022): reflect a direction so that a class and its leader change places, until the class leads. The rest is solved
by non-negative least squares with the active-set method of Lawson and Hanson, "Solving Least Squares Problems" (1974,
chapter 23): the residual of a point after its best non-negative combination of others is zero, or it separates the
point from them. Every direction encountered is one in which some class leads, and that class needs no search of its
own.
"""

import numpy as np

from oversmoothing.numerics.compiled import compiled, inner

FEW_DIMENSIONS = 12  # up to here most classes of a trained head lead nowhere, so reflections would be wasted
REFLECTIONS = 40  # per class


@compiled()
def separate_or_combine(rows: np.ndarray, v: int, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Search for a separating direction or a combination for each of `classes`, in floats, without proof.

    `rows`, (n, m), has one row for each of v classes, whose first coordinate is 1; then rays. Return for each class a
    direction in which it was seen to lead, or else its residual, zeros for classes not examined (v, m); and the rows of
    the combination, padded with -1 (v, m).
    """
    n, m = rows.shape
    columns, gram = np.ascontiguousarray(rows.T), rows @ rows.T
    inverse_norms = 1 / np.sqrt(np.diag(gram))
    directions, supports, seen = np.zeros((v, m)), np.full((v, m), -1), np.zeros(v, np.bool_)
    factor, weight, solution, scores = np.empty((m, m)), np.empty(m), np.empty(m), np.empty(n)
    residual, last, k = np.empty(m), np.empty(m, np.int64), np.int64(0)  # for a Python 0, numba compiles `_fit` twice
    if n == v and m > FEW_DIMENSIONS:
        for i in classes:
            if not seen[i]:
                _reflect(rows, gram, i, seen, directions, scores)
    open_classes = classes.copy()
    i = classes[0]
    for remaining in range(len(classes), 0, -1):
        i = _take_nearest(gram, open_classes, remaining, i)
        if seen[i]:
            continue
        active = supports[i]
        if i in last[:k]:
            k = np.int64(0)
        _copy(last[:k], active)
        weight[:k] = 0.0
        k = _fit(gram, i, active, weight, solution, factor, k)  # the last class's rows may fit this one too
        _leave(rows, i, active, weight, k, residual)
        for _ in range(20 * m + 50):
            best, leader = _next(columns, inverse_norms, residual, scores, i, v)
            if leader >= 0 and not seen[leader]:
                seen[leader] = True
                _copy(residual, directions[leader])
            if best < 0 or k == m:
                break
            active[k], weight[k] = best, 0.0
            if not _factorise(gram, active, factor, k, k + 1):
                active[k] = -1
                break
            k = _fit(gram, i, active, weight, solution, factor, k + 1)
            _leave(rows, i, active, weight, k, residual)
        _copy(active[:k], last)
        if not seen[i]:
            _copy(residual, directions[i])
    return directions, supports


@inner()
def _copy(values: np.ndarray, into: np.ndarray) -> None:
    """Copy values to the beginning of another array; assigned to a slice, they take numba seconds to compile."""
    for c in range(len(values)):
        into[c] = values[c]


@inner()
def _take_nearest(gram: np.ndarray, classes: np.ndarray, count: int, i: int) -> int:
    """Remove and return the class nearest to row i among the first `count`: its combination may fit row i too."""
    nearest, least = 0, np.inf
    for place in range(count):
        j = classes[place]
        distance = gram[j, j] - 2 * gram[i, j]
        if distance < least:
            nearest, least = place, distance
    taken = classes[nearest]
    classes[nearest] = classes[count - 1]
    return taken


@inner()
def _leave(rows: np.ndarray, i: int, active: np.ndarray, weight: np.ndarray, k: int, residual: np.ndarray) -> None:
    """Set `residual` to row i minus its combination."""
    _copy(rows[i], residual)
    for a in range(k):
        for c in range(len(residual)):
            residual[c] -= weight[a] * rows[active[a], c]


@inner()
def _reflect(
    rows: np.ndarray, gram: np.ndarray, i: int, seen: np.ndarray, directions: np.ndarray, scores: np.ndarray
) -> None:
    """Reflect row i until its class leads, and mark every class that leads on the way."""
    direction = rows[i].copy()
    _copy(gram[i], scores)
    for _ in range(REFLECTIONS):
        leader = _largest(scores)
        if not seen[leader]:
            seen[leader] = True
            _copy(direction, directions[leader])
        apart = gram[i, i] - 2 * gram[i, leader] + gram[leader, leader]
        if leader == i or apart <= 0:
            return
        shift = 2 * (scores[leader] - scores[i]) / apart
        for j in range(len(scores)):
            scores[j] += shift * (gram[i, j] - gram[leader, j])
        for c in range(len(direction)):
            direction[c] += shift * (rows[i, c] - rows[leader, c])


@inner()
def _next(
    columns: np.ndarray, inverse_norms: np.ndarray, residual: np.ndarray, scores: np.ndarray, i: int, v: int
) -> tuple[int, int]:
    """Return the row that improves the fit most, and the class that leads.

    The row is -1 if none improves the fit, or the residual already separates row i; the class is -1 if a ray excludes
    the direction, or the leader is within rounding error.
    """
    scores[:] = 0.0
    for c in range(len(residual)):
        factor, column = residual[c], columns[c]
        for j in range(len(scores)):
            scores[j] += factor * column[j]
    score, tolerance = scores[i], 1e-14 * np.sqrt(len(scores))
    scores[i] = -1e300
    leader = _largest(scores[:v])
    allowed = True
    for j in range(v, len(scores)):
        allowed &= scores[j] <= tolerance
    if allowed and scores[leader] < score - tolerance:
        return -1, i
    leads = allowed and scores[leader] > score + tolerance
    for j in range(len(scores)):
        scores[j] *= inverse_norms[j]
    best = _largest(scores)
    return best if scores[best] > tolerance else -1, leader if leads else -1


@inner(fastmath=True)
def _largest(values: np.ndarray) -> int:
    """Return the index of the largest of finite values: the maximum first, which vectorises, then its index."""
    largest = values[0]
    for value in values:
        largest = max(largest, value)
    for j in range(len(values)):
        if values[j] == largest:
            return j
    return 0


@inner()
def _fit(
    gram: np.ndarray, i: int, active: np.ndarray, weight: np.ndarray, solution: np.ndarray, factor: np.ndarray, k: int
) -> int:
    """Fit row i by the k active rows, drop those whose weight would become negative, and return how many remain."""
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


@inner()
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
