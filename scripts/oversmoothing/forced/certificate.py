"""A lower bound of what a head forces in which every rounding is counted: it needs no minimum and no size of a point.

Let b + U theta + constant be the logits of a head, and let t >= 0 have the truth's moments, U^T t = U^T p, and its sum.
For each q of the family the mean of log q - b is the same under p and t, so

    KL(p || q) = sum p log p - sum t log t - sum (p - t) b + KL(t || q) >= sum p log p - sum t log t - sum (p - t) b.

The right side does not depend on q. At t = q* it is KL(p || q*), its greatest value (the dual problem, of greatest
entropy).

Here t is near q* but at a basis B of tokens, whose t_B solve the equations of the moments. The exact solution lies
within |A^-1| times the residual, which is computed in long double. Tokens of next to no probability may get t_i = p_i:
near a proper face of the polytope of U's rows these are all but those on it. Then the others span fewer dimensions, and
U's rounding alone decides whether they lie on the face. So there it is a proof for rows that differ from U's by at most
`OFF`; else for U itself, which is W up to the rounding of `prepare`.
"""

import math
from itertools import product

import numpy as np
from scipy.linalg import pinv, qr
from scipy.special import xlogy

from oversmoothing.forced.head import Head, prepare
from oversmoothing.forced.projection import Projection, along_axes
from oversmoothing.forced.search import ROUNDING
from oversmoothing.numerics.distributions import distributions

NOTHING = 0.0, 1e-25, 1e-20, 1e-16, 1e-13, 1e-11, 1e-9  # probabilities below which t_i = p_i; they are tried in turn
ENOUGH = 1e-12  # nats: a gap at which no further one is
SPANS = 1e-10  # distance of a row (u_i, 1) from the span of others, up to which it lies there
OFF = 1e-13  # change of rows (u_i, 1)
WIDER = 8  # tokens among which a basis is sought, as a multiple of its own: the most probable ones
EXACT = np.longdouble


def certify(head: Head | np.ndarray, p: np.ndarray, nearest: Projection) -> np.ndarray:
    """Return gaps that are proved, rounding included: a head forces at least `nearest.forced` less its gap.

    `Projection.gap` allows for rounding by an estimate. The proof is of the head as `forced.prepare` stores it. It
    takes about a millisecond a position over bytes, and seconds over a large vocabulary at a large rank.

    Parameters
    ----------
    head : Head, or array, shape (v, r)
        As for `forced.divide`: `forced.prepare`, or W itself without a bias.
    p : array, shape (n, v) or (v,)
        The truths.
    nearest : Projection
        What `forced.project` returned for them.

    Returns
    -------
    float64 array, shape (n,)
        In nats. Where nothing is proved it is `nearest.forced`, as no divergence is negative.

    Raises
    ------
    ValueError
        If shapes do not match, or a row of `p` is not a distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from oversmoothing import forced
    >>> weights, p = np.array([[1.0], [0.0], [-1.0]]), np.array([[0.4, 0.2, 0.4]])
    >>> forced.certify(weights, p, forced.project(weights, p)) < 1e-14
    array([ True])
    """
    head = head if isinstance(head, Head) else prepare(head)
    p = distributions(p, len(head.columns))
    if nearest.log_q.shape != p.shape:
        raise ValueError(f"p {p.shape} must have a row for each of {len(nearest.log_q)} projections")
    if head.full:
        return nearest.forced.copy()
    return np.array([_gap(head, *one) for one in zip(p, nearest.log_q, nearest.forced, strict=True)])


def _gap(head: Head, p: np.ndarray, log_q: np.ndarray, forced: float) -> float:
    """Return the smallest gap that is proved for a truth (v,), up to `ENOUGH`."""
    q, gap = np.exp(log_q), forced
    stepped = np.maximum(q * (1 + along_axes(head.columns, p, log_q)[1]), 0)
    for near, nothing in product((stepped, q), NOTHING):
        gap = min(gap, max(forced - _least(head, p, near, q >= nothing), 0.0))
        if gap <= ENOUGH:
            break
    return gap


def _least(head: Head, p: np.ndarray, near: np.ndarray, counts: np.ndarray) -> float:
    """Return what is forced at least, as a vector t proves it.

    The vector is p off the tokens that count, and near q* except at a basis of these.
    """
    rows = np.column_stack([head.columns, np.ones(len(p))])
    t, basis = np.where(counts, near, p), _basis(rows, near, np.flatnonzero(counts))
    inverse = pinv(rows[basis].T)
    for _ in range(3):
        t[basis] += inverse @ _missed(rows, p, t)[0]
    missed, rounding = _missed(rows, p, t)
    error = np.zeros(len(basis))
    if len(basis) == rows.shape[1]:
        error = _error(rows[basis].T, inverse, abs(missed) + rounding)
    elif not np.linalg.norm(abs(missed) + rounding) <= OFF * abs(p - t).sum():
        return -np.inf
    if (t < 0).any() or ((t[basis] <= error) & (error > 0)).any():
        return -np.inf
    terms = np.concatenate([xlogy(p, p), -xlogy(t, t), (t - p) * head.bias])
    slope = 1 + abs(np.log(np.maximum(t[basis] - error, 1e-300))) + abs(head.bias[basis])
    return math.fsum(terms) - 8 * ROUNDING * (1 + abs(terms).sum()) - float(error @ slope)


def _error(matrix: np.ndarray, inverse: np.ndarray, missed: np.ndarray) -> np.ndarray:
    """Return how far a solution x is from the exact one.

    It follows from a bound of what matrix x misses and from an inverse in float64.
    """
    size = len(matrix)
    off = abs(inverse @ matrix - np.eye(size)).sum(axis=1) + size * ROUNDING * (abs(inverse) @ abs(matrix)).sum(axis=1)
    error, share = 1.01 * abs(inverse) @ missed, float(off.max())
    return error + error.max() * share / (1 - share) if share < 0.5 else np.full(size, np.inf)


def _missed(rows: np.ndarray, p: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what t misses of the truth's moments, and a bound of how far that is rounded."""
    away = p.astype(EXACT) - t
    missed, size = away @ rows.astype(EXACT), abs(away).astype(float) @ abs(rows)
    return missed.astype(float), (2 + len(p)) * float(np.finfo(EXACT).eps) * size + ROUNDING * abs(missed).astype(float)


def _basis(rows: np.ndarray, near: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return tokens whose rows span those of the ones that count, the most probable ones first."""
    if len(counts) > (most := WIDER * rows.shape[1]):
        counts = counts[np.argpartition(-near[counts], most)[:most]]
    weights = np.sqrt(np.maximum(near[counts], 1e-30))
    r, order = qr((rows[counts] * weights[:, None]).T, mode="r", pivoting=True)
    apart = abs(np.diag(r)) / weights[order[: min(r.shape)]]
    return counts[order[: np.count_nonzero(apart > SPANS)]]
