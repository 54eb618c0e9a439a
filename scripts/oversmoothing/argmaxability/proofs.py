"""Proofs for `oversmoothing.argmaxability`, in floats with rounding bounds and in rational arithmetic.

A hidden vector proves that a class is argmaxable: its lead there is a few dot products. Other rows prove that a class
is unargmaxable if the exact weights of their combination are positive. Computed weights are never exact, nor need they
be: if the support has as many rows as there are equations, the exact weights solve a square linear system, and a bound
on their distance from the computed ones (Rump, "Verification methods", Acta Numerica 2010, theorem 10.2) settles their
signs. For a support of fewer rows the system is solved in integers; for one of more rows see `cushion`.

Every float64 is a rational number, so all proofs are about the weights exactly as given. The bounds in floats also hold
for weights that are each the nearest to the exact one, as those of `oversmoothing.argmaxability.equivalent` are. They
assume only that nothing underflows.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.linalg import LinAlgError

from oversmoothing.argmaxability.cushion import Cushion
from oversmoothing.argmaxability.result import Argmaxability, Combination
from oversmoothing.numerics.exact import solve_exactly

# Twice the unit roundoff, so bounds that use it are twice as wide as necessary: room for weights that are rounded once.
EPS = np.finfo(np.float64).eps
ROWS = 2**14  # of a head in float64 at a time


def generators(weights: np.ndarray, bias: np.ndarray | None, indices: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return rows whose combinations count, as the last axis: (w_j, 1), or (w_j, b_j, 1) and for j = v (0, -1, 0)."""
    indices = np.asarray(indices, int)
    v, d = weights.shape
    rows = np.ones((*indices.shape, d + 1 + (bias is not None)))
    classes = np.minimum(indices, v - 1)
    rows[..., :d] = weights[classes]
    if bias is not None:
        rows[..., d] = bias[classes]
        rows[indices == v] = np.append(np.zeros(d), (-1.0, 0.0))
    return rows


def proven_gaps(weights: np.ndarray, bias: np.ndarray | None, hidden: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading class at each hidden vector, and a lower bound of its lead, proven if positive."""
    each, leader = np.arange(len(hidden)), np.zeros(len(hidden), int)
    highest, second = np.full((2, len(hidden)), -np.inf)
    for start in range(0, len(weights), ROWS):
        rows = weights[start : start + ROWS].astype(np.float64, copy=False)
        logits = hidden @ rows.T
        if bias is not None:
            logits += bias[start : start + ROWS]
        best = logits.argmax(axis=1)
        score = logits[each, best]
        logits[each, best] = -np.inf
        second = np.maximum(np.minimum(score, highest), np.maximum(second, logits.max(axis=1)))
        leader, highest = np.where(score > highest, best + start, leader), np.maximum(score, highest)
    gap = highest - second - 2 * _rounding(weights, bias, hidden)
    return leader, np.where(np.isfinite(highest) & ~np.isnan(gap), gap, -np.inf)


def proven_leads(weights: np.ndarray, bias: np.ndarray | None, hidden: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Return lower bounds (n,), proven if positive, of the lead of each set (n, k) over all others at its vector."""
    logits = hidden @ weights.T + (0.0 if bias is None else bias)
    each = np.arange(len(sets))[:, None]
    lowest = logits[each, sets].min(axis=1)
    logits[each, sets] = -np.inf
    lead = lowest - logits.max(axis=1) - 2 * _rounding(weights, bias, hidden)
    return np.where(np.isfinite(lowest) & ~np.isnan(lead), lead, -np.inf)


def longest_row(weights: np.ndarray) -> float:
    """Return the largest norm of a row (v, d), computed in float64."""
    blocks = (weights[start : start + ROWS].astype(np.float64, copy=False) for start in range(0, len(weights), ROWS))
    return float(np.sqrt(max(np.einsum("vd,vd->v", rows, rows).max() for rows in blocks)))


def _rounding(weights: np.ndarray, bias: np.ndarray | None, hidden: np.ndarray) -> np.ndarray:
    """Return a bound (n,) of the error of logits at each hidden vector: gamma_d |w| |h|, for any order of summation."""
    size = longest_row(weights) * np.linalg.norm(hidden, axis=1)
    if bias is not None:
        size += np.abs(bias).max()
    return (weights.shape[1] + 4) * EPS * np.where(np.isfinite(size), size, np.inf)


def proven_combinations(
    weights: np.ndarray, bias: np.ndarray | None, classes: np.ndarray, supports: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Express each class's row as a combination of m others; return which ones have certainly positive exact weights.

    With R an approximate inverse of A and l an approximate solution of A l = t, and the norm of I - R A at most alpha <
    1, A is regular and no entry of the exact solution is further from l than |R (t - A l)| / (1 - alpha). It takes
    several times c m^2 numbers of memory. `supports`, (c, m), are indices of `generators`, which have m coordinates;
    the weights are returned with the same shape.
    """
    m = supports.shape[1]
    if len(classes) == 0:
        return np.zeros(0, bool), np.zeros(supports.shape)
    matrix = generators(weights, bias, supports).transpose(0, 2, 1)
    target = generators(weights, bias, classes)[:, :, None]
    regular = np.ones(len(classes), bool)
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        regular = np.abs(np.linalg.slogdet(matrix)[0]) > 0
        matrix[~regular] = np.eye(m)
        inverse = np.linalg.inv(matrix)
    solution = inverse @ target
    solution += inverse @ (target - matrix @ solution)
    absolute, gamma = np.abs(inverse), (m + 3) * EPS
    away = np.abs(np.eye(m) - inverse @ matrix) + gamma * (absolute @ np.abs(matrix) + np.eye(m))
    alpha = 1.01 * away.sum(axis=2).max(axis=1)
    residual = np.abs(target - matrix @ solution)
    residual += gamma * (np.abs(target) + np.abs(matrix) @ np.abs(solution))
    with np.errstate(divide="ignore", invalid="ignore"):
        error = 1.01 * (absolute @ residual).max(axis=(1, 2)) / (1 - alpha)
        proven = regular & (alpha < 1) & (solution[:, :, 0] > error[:, None]).all(axis=1)
    return proven, solution[:, :, 0]


def exact_gap(
    weights: np.ndarray, bias: np.ndarray | None, i: int, hidden: np.ndarray, rest: np.ndarray | None = None
) -> Fraction:
    """Return the lead of class i over the best other class at hidden + rest, in rational arithmetic; 1 if alone."""
    if len(weights) == 1:
        return Fraction(1)
    logits = weights @ hidden
    if bias is not None:
        logits += bias
    logits[i] = -np.inf
    state = [Fraction(x) for x in hidden.tolist()]
    unsure = _rounding(weights, bias, hidden[None])
    if rest is not None:
        state = [x + Fraction(y) for x, y in zip(state, rest.tolist(), strict=True)]
        unsure += np.linalg.norm(weights, axis=1).max() * np.linalg.norm(rest) * (1 + weights.size * EPS)

    def exact(j: int) -> Fraction:
        start = Fraction(0 if bias is None else float(bias[j]))
        return sum((Fraction(w) * x for w, x in zip(weights[j].tolist(), state, strict=True)), start)

    rivals = np.flatnonzero(~(logits < logits.max() - 2 * unsure))
    return exact(i) - max(exact(j) for j in rivals.tolist() if j != i)


def exact_combination(
    weights: np.ndarray, bias: np.ndarray | None, i: int, support: Sequence[int]
) -> dict[int, Fraction] | None:
    """Return the exact weights with which the support's rows, indices of `generators`, combine to row i.

    None if there are no such weights, one is negative, or the support is empty, dependent or contains i.
    """
    if i in support or not support:
        return None
    solution = solve_exactly(generators(weights, bias, support).T.tolist(), generators(weights, bias, [i])[0].tolist())
    if solution is None or min(solution) < 0:
        return None
    return dict(zip(support, solution, strict=True))


def check(weights: np.ndarray, bias: np.ndarray | None, result: Argmaxability) -> None:
    """Check every certificate, and return nothing; takes seconds each for hundreds of dimensions.

    It is checked in rational arithmetic, or with a bound of every rounding error if more rows combine to a class's than
    there are equations.

    Parameters
    ----------
    weights, bias : array, shape (v, d), and array, shape (v,), or None
        Those that `argmaxability.argmaxable` was given.
    result : Argmaxability
        Undecided classes have no certificate and are skipped.

    Raises
    ------
    ValueError
        If a certificate does not prove its class's status; the message names the class.

    Examples
    --------
    >>> import numpy as np
    >>> from oversmoothing import argmaxability
    >>> weights = np.array([[1.0], [2.0], [3.0]])
    >>> result = argmaxability.argmaxable(weights)
    >>> result.status.tolist()
    ['argmaxable', 'unargmaxable', 'argmaxable']
    >>> argmaxability.check(weights, None, result)
    """
    weights = np.asarray(weights, np.float64)
    for i, status in enumerate(result.status):
        if status == "argmaxable":
            claimed = 0.0 if len(weights) == 1 else float(result.margin[i])
            hidden, rest = result.hidden[i].astype(np.float64), result.rest.get(i)
            if not np.isfinite([claimed, *hidden, *(() if rest is None else rest)]).all():
                raise ValueError(f"class {i}: no hidden vector or no margin")
            gap = exact_gap(weights, bias, i, hidden, rest)
            if gap <= 0 or gap < Fraction(claimed):
                raise ValueError(f"class {i}: its lead at the hidden vector is {float(gap)}, not {claimed}")
        elif status == "unargmaxable":
            found = result.combination.get(i)
            if found is None or not _combines(weights, bias, i, found):
                rows = [] if found is None else found.rows.tolist()
                raise ValueError(f"class {i}: rows {rows} do not combine to its row")


def _combines(weights: np.ndarray, bias: np.ndarray | None, i: int, found: Combination) -> bool:
    """Return whether it is certain that some positive shares of the rows combine to row i."""
    if len(found.rows) <= weights.shape[1] + 1 + (bias is not None):
        return exact_combination(weights, bias, i, found.rows.tolist()) is not None
    used = found.shares > 0
    if i in found.rows or not used.any():
        return False
    rows, shares = generators(weights, bias, found.rows[used]), found.shares[used]
    try:
        cushion = Cushion(rows, shares)
    except LinAlgError:
        return False
    return bool(cushion.proven(rows, generators(weights, bias, [i]), shares[None])[0][0])
