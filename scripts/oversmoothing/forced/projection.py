"""The distribution of a head that is nearest to a truth, with a proof of how near.

The distributions that a linear head gives, q = softmax(b + W h), are an exponential family. Let q* minimise KL(p || q)
over h, for a truth p. Then W^T q* = W^T p, and for *every* q of the family (proof: docs/forced.md)

    KL(p || q) = KL(p || q*) + KL(q* || q):

what the head forces, whatever enters it, and the rest. Where the truth has probability on a proper face of the polytope
of W's rows alone, q* lies at infinity, on the smallest such face, and KL(p || q*) is an infimum.

Certificate. For q and q' of the family and every distribution t with W^T t = W^T p, the truth's moments,

    KL(p || q) - KL(p || q') = KL(t || q) - KL(t || q') <= KL(t || q),

because log q - log q', which is W (h - h') and a constant, has the same mean under p and t. So the forced divergence
lies in [KL(p || q) - gap, KL(p || q)] with gap = KL(t || q), however q was found. Let U be an orthonormal basis of the
centred head, m = U^T q, H = U^T (diag q - q q^T) U and H x = U^T p - m. Near the minimum such a t is t_i = max(q_i (1 +
(u_i - m)^T x), 0). Elsewhere it may miss the moments; then the gap is the divergence itself. What rounding adds counts
with the size of the point found in place of that of q*, which is an estimate; `certificate` has a proof.

References
----------
I. Csiszar, "I-divergence geometry of probability distributions and minimization problems", Annals of Probability 1975.
I. Csiszar and F. Matus, "Information projections revisited", IEEE Transactions on Information Theory 2003.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, xlogy

from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.head import Head, prepare
from oversmoothing.forced.large import SOLVED, enough_of, project_one
from oversmoothing.forced.search import ROUNDING, lengths
from oversmoothing.numerics.distributions import distributions

TOLERANCE = 1e-15  # nats, of the gap without its rounding: one more step squares it
STEPS = 200
LARGEST_DENSE = 3e8  # v m^2, the products in a Hessian, above which a position is solved by `large`
LOWEST = -50.0  # log-probability of the truth that counts for the first guess
NEGLIGIBLE = 1e-9  # nats: a gap below which a step that no longer helps is the last
RIDGE = 1e-15  # added to the Hessian, relative to its trace
FLAT = 1e-13  # share of the Hessian's trace; below it rounding hides a curvature
ROUGH = 3e-15  # distance of rows of U that may be rounding
APART = 1e-8  # product of two unit axes of the Hessian that are as good as orthogonal
FLATTEST = 1e-60  # trace for which a smaller one is taken, so that no step overflows
BATCH = 1 << 22  # numbers in the arrays of a batch


@dataclass(frozen=True)
class Projection:
    """The distributions q* of a head that are nearest to n truths.

    Attributes
    ----------
    log_q : float64 array, shape (n, v)
        Log-probabilities of q*.
    hidden : float64 array, shape (n, r)
        The shortest h with softmax(b + W h) = q*.
    forced : float64 array, shape (n,)
        KL(p || q*) in nats: an upper bound of what the head forces.
    gap : float64 array, shape (n,)
        The true value lies in [forced - gap, forced], up to rounding, which `certify` proves.
    """

    log_q: np.ndarray
    hidden: np.ndarray
    forced: np.ndarray
    gap: np.ndarray


def project(
    weights: np.ndarray,
    p: np.ndarray,
    bias: np.ndarray | None = None,
    start: np.ndarray | None = None,
    tolerance: float = TOLERANCE,
) -> Projection:
    """Return the distributions q* that a head can give nearest to truths, and the divergence that it forces.

    Of the distributions q = softmax(b + W h), for any h, q* has the smallest KL(p || q). No model with this head comes
    nearer to the truth p than KL(p || q*) (Csiszar 1975).

    Parameters
    ----------
    weights : array, shape (v, r)
        The head W.
    p : array, shape (n, v) or (v,)
        Truths. Zeros are allowed: then q* may be a limit of the family, which q comes near.
    bias : array, shape (v,), optional
        The head's bias b.
    start : array, shape (n, v), optional
        Log-probabilities from which to begin, such as a model's.
    tolerance : float
        Gap, in nats and without its share of rounding, at which a position takes its last step.

    Returns
    -------
    Projection

    Raises
    ------
    ValueError
        If shapes do not match, a value is not finite or a row of `p` is not a distribution.

    Examples
    --------
    The truth has mean 0 under the head, and so has the uniform distribution, which the head gives at h = 0.

    >>> import numpy as np
    >>> from oversmoothing import forced
    >>> nearest = forced.project(np.array([[1.0], [0.0], [-1.0]]), np.array([[0.4, 0.2, 0.4]]))
    >>> np.exp(nearest.log_q).round(4), nearest.forced.round(4)
    (array([[0.3333, 0.3333, 0.3333]]), array([0.0437]))
    """
    head = prepare(weights, bias)
    return project_on(head, distributions(p, len(head.columns)), start, tolerance)


def project_on(head: Head, p: np.ndarray, start: np.ndarray | None = None, tolerance: float = TOLERANCE) -> Projection:
    """Return what `project` returns for a head that is prepared and distributions that are checked."""
    n, v = p.shape
    m = head.columns.shape[1]
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    if head.full:
        theta = head.coordinates(np.maximum(log_p, np.log(1e-300)))
        return Projection(log_p, theta @ head.back, np.zeros(n), np.zeros(n))
    theta, gap, log_q = np.zeros((n, m)), np.zeros(n), np.empty((n, v))
    one_by_one = v * m * m > LARGEST_DENSE
    size = 1 if one_by_one else max(1, BATCH // (v + m * m))
    for begin in range(0, n, size):
        some = begin if one_by_one else slice(begin, begin + size)
        first = head.coordinates(np.maximum(log_p[some], LOWEST) if start is None else start[some])
        theta[some], log_q[some], gap[some] = (_by_sample if one_by_one else _newton)(head, p[some], first, tolerance)
    forced = divergence(p, log_q)
    return Projection(log_q, theta @ head.back, forced, np.minimum(gap, forced))


def _by_sample(head: Head, p: np.ndarray, theta: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Return coordinates, log-probabilities and gap of one truth (v,) by `large`.

    Where it proves too little, they are by `_newton`.
    """
    theta, log_q, gap = project_one(head, p, theta, tolerance)
    enough = enough_of(float(divergence(p[None], log_q[None])[0]), tolerance)
    if gap > enough:
        (theta,), (log_q,), (gap,) = _newton(head, p[None], theta[None], enough)
    return theta, log_q, gap


def _newton(
    head: Head, p: np.ndarray, theta: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coordinates, log-probabilities and gaps by Newton's method with a line search."""
    moments, constant = p @ head.columns, xlogy(p, p).sum(axis=1) - p @ head.bias
    gap, best, left = np.full(len(p), np.inf), theta.copy(), np.arange(len(p))
    lowest = gap.copy()
    for _ in range(STEPS):
        direction, proved, noise, height, *searched = _at(head, p[left], moments[left], theta)
        lowest[left] = np.minimum(lowest[left], height)
        length, fall = lengths(*searched)
        theta = theta + length[:, None] * direction
        bound = np.maximum(proved - fall, 0) + noise  # the lower bound that was proved holds for the next point too
        better = (bound < gap[left]) | (fall > ROUNDING)
        best[left], gap[left] = theta, np.minimum(gap[left], bound)  # no step raises the objective
        known = np.minimum(gap[left], constant[left] + height)  # as no divergence is negative
        going = (proved > tolerance) & (better | (known > NEGLIGIBLE)) & (length > 0)
        if not going.any():
            break
        left, theta = left[going], theta[going]
    z = best @ head.columns.T + head.bias
    log_q = log_softmax(z, axis=1)
    # A step that rounding has led astray proves nothing, whatever its search said.
    rounding = NEGLIGIBLE + 8 * ROUNDING * np.linalg.norm(best, axis=1)
    gap[_height(z, log_q, moments, best) > lowest + rounding] = np.inf
    return best, log_q, gap


def _height(z: np.ndarray, log_q: np.ndarray, moments: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return the divergence from the truth at points theta (n, m), less what no point alters."""
    height: np.ndarray = (z - log_q)[:, 0] - (moments * theta).sum(axis=1)
    return height


def _at(head: Head, p: np.ndarray, moments: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return Newton's direction at points theta (n, m), with their gap, its rounding and their height.

    Rounding adds to the gap. What `lengths` takes comes last. The height is the divergence from the truth, less what no
    point alters.
    """
    columns, m = head.columns, head.columns.shape[1]
    z = theta @ columns.T + head.bias
    log_q = log_softmax(z, axis=1)
    q = np.exp(log_q)
    mean = q @ columns
    gradient = moments - mean
    hessian = second_moments(columns, q, head.pairs) - mean[:, :, None] * mean[:, None, :]
    direction, flat = _solved(hessian, gradient)
    change = direction @ columns.T - (mean * direction).sum(axis=1, keepdims=True)
    decrement = (gradient * direction).sum(axis=1)
    for i in np.flatnonzero(flat):
        direction[i], change[i], decrement[i] = along_axes(columns, p[i], log_q[i])
    t = q * np.maximum(1 + change, 0)
    missed = np.linalg.norm(t @ columns - moments, axis=1) + abs(t.sum(axis=1) - 1) + ROUNDING * np.sqrt(m)
    gap = np.where(missed <= SOLVED, (q * _entropy_of(change)).sum(axis=1), np.inf)
    noise = 2 * missed * (1 + np.linalg.norm(theta + direction, axis=1))
    return direction, gap, noise, _height(z, log_q, moments, theta), log_q, change, decrement


def second_moments(columns: np.ndarray, q: np.ndarray, pairs: np.ndarray | None) -> np.ndarray:
    """Return U^T diag(q) U of each row of q, (n, m, m)."""
    m = columns.shape[1]
    if pairs is None:
        return np.stack([(columns * row[:, None]).T @ columns for row in q])
    moments = np.empty((len(q), m, m))
    first, second = np.tril_indices(m)
    moments[:, first, second] = moments[:, second, first] = q @ pairs
    return moments


def _solved(hessian: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return H^-1 g of each row, with a ridge far below rounding where H is singular, and whether it is `FLAT`."""
    trace = np.maximum(np.trace(hessian, axis1=1, axis2=2), FLATTEST)
    ridged = hessian + (RIDGE * trace)[:, None, None] * np.eye(hessian.shape[1])
    try:
        factor = np.linalg.cholesky(ridged)
        sizes, root = np.einsum("naa->na", factor) ** 2, np.linalg.inv(factor)
    except np.linalg.LinAlgError:  # rounding has made one of them indefinite
        sizes, axes = np.linalg.eigh(ridged)
        root = np.swapaxes(axes / np.sqrt(np.maximum(abs(sizes), RIDGE * trace[:, None]))[:, None, :], 1, 2)

    def solve(right: np.ndarray) -> np.ndarray:
        return np.einsum("nba,nb->na", root, np.einsum("nab,nb->na", root, right))

    direction = solve(gradient)
    direction += solve(gradient - np.einsum("nab,nb->na", hessian, direction))
    return direction, (sizes < FLAT * trace[:, None]).any(axis=1)


def along_axes(columns: np.ndarray, p: np.ndarray, log_q: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the direction H^-1 g, change and decrement of one position, with sums along the axes of H.

    So no flat axis has a share in the rounding of a steep one, and rows that differ by rounding alone count as equal.
    """
    q, axes = np.exp(log_q), np.eye(columns.shape[1])
    rows = columns - q @ columns
    for rough in (ROUGH, 0):  # the second time flat axes are told apart
        if rough:
            turn = np.linalg.svd(np.sqrt(q)[:, None] * rows, full_matrices=False)[2].T
        else:  # of unit axes: to turn equal ones would mix flat and steep, and rounding would lose the steep
            gram = (rows.T * q) @ rows
            gram[abs(gram) < APART] = 0
            turn = np.linalg.eigh(gram)[1]
        rows = rows @ turn
        rows -= q @ rows
        rows[abs(rows) < rough] = 0
        sizes = np.sqrt(np.maximum(q @ rows**2, FLATTEST))
        rows, axes = rows / sizes, axes @ turn / sizes
    gradient = (p - q) @ rows  # H is the identity here
    return axes @ gradient, rows @ gradient, float(gradient @ gradient)


def _entropy_of(x: np.ndarray) -> np.ndarray:
    """Return (1 + x) log(1 + x) - x, without cancellation for small x; below -1 what it is there."""
    near = np.clip(x, -1e-3, 1e-3)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = (1 + x) * np.log1p(np.maximum(x, -1)) - x
    exact = np.where(x <= -1, 1.0, exact)
    return np.where(x == near, near * near * (0.5 - near * (1 / 6 - near * (1 / 12 - near / 20))), exact)
