"""The distribution of a head that is nearest to a truth, with a proof of how near.

The distributions that a linear head gives, q = softmax(b + W h), are an exponential family. For a truth p > 0 let q*
minimise KL(p || q) over h. Then W^T q* = W^T p, and for *every* q of the family (proof: docs/forced.md)

    KL(p || q) = KL(p || q*) + KL(q* || q):

what the head forces, whatever enters it, and the rest.

Certificate. Let U be an orthonormal basis of the centred head, m = U^T q, H = U^T (diag q - q q^T) U and
H x = U^T p - m. The vector t_i = q_i (1 + (u_i - m)^T x) sums to 1 and has U^T t = U^T p. If t >= 0 it is a
distribution, and for every distribution t with these moments

    KL(p || q) - KL(p || q*) <= KL(t || q),

because KL(t || q) = KL(t || q*) + KL(q* || q) and the last term is the left side. So the forced divergence lies in
[KL(p || q) - gap, KL(p || q)] with gap = KL(t || q), however q was found. For a truth on a face q* lies at infinity,
where an error of the moments of t counts without bound; so a t proves nothing unless they are right up to rounding.

References
----------
I. Csiszar, "I-divergence geometry of probability distributions and minimization problems", Annals of Probability 1975.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.head import Head, prepare
from oversmoothing.forced.large import HALVINGS, LONGEST, project_one
from oversmoothing.numerics.distributions import distributions

TOLERANCE = 1e-15  # nats, of the gap without its rounding: one more step squares it
STEPS = 200
LARGEST_DENSE = 3e8  # v m^2, the products in a Hessian, above which a position is solved by `large`
LOWEST = -50.0  # log-probability of the truth that counts for the first guess
ROUNDING = 2.0**-52
NEGLIGIBLE = 1e-9  # nats: a gap below which a step that no longer helps is the last
QUADRATIC = 1e-3  # relative change of every probability below which a step needs no search
SOLVED = 1e-12  # error of the moments of t up to which it proves a gap; a q* near infinity would multiply it
RIDGE = 1e-15  # added to the Hessian, relative to its trace
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
        The true value lies in [forced - gap, forced].
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
        Truths. Zeros are allowed: then q* may be a limit of the family, and the gap says how near q is.
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
    """`project` for a head that is prepared and distributions that are checked."""
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
        theta[some], log_q[some], gap[some] = (project_one if one_by_one else _newton)(head, p[some], first, tolerance)
    forced = divergence(p, log_q)
    return Projection(log_q, theta @ head.back, forced, np.minimum(gap, forced))


@np.errstate(over="ignore", invalid="ignore")  # near infinity, where the Hessian is nearly zero
def _newton(
    head: Head, p: np.ndarray, theta: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates, log-probabilities and gaps by Newton's method with a line search."""
    moments = p @ head.columns
    gap, best, left = np.full(len(p), np.inf), theta.copy(), np.arange(len(p))
    for _ in range(STEPS):
        direction, proved, noise, *searched = _at(head, moments[left], theta)
        length, fall = _length(*searched)
        theta = theta + length[:, None] * direction
        bound = np.maximum(proved - fall, noise)  # the lower bound that was proved holds for the next point too
        better = ~(bound >= gap[left])
        best[left], gap[left] = theta, np.minimum(gap[left], bound)  # no step raises the objective
        going = (proved - noise > tolerance) & (better | (gap[left] > NEGLIGIBLE))
        if not going.any():
            break
        left, theta = left[going], theta[going]
    z = best @ head.columns.T + head.bias
    return best, z - logsumexp(z, axis=1, keepdims=True), gap


def _at(head: Head, moments: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, ...]:
    """Newton's direction at points theta (n, m); their gap, and its part that is rounding; what `_length` takes."""
    columns, m = head.columns, head.columns.shape[1]
    z = theta @ columns.T + head.bias
    z -= z.max(axis=1, keepdims=True)
    log_q = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    q = np.exp(log_q)
    mean = q @ columns
    gradient = moments - mean
    hessian = second_moments(columns, q, head.pairs) - mean[:, :, None] * mean[:, None, :]
    direction = _solved(hessian, gradient)
    change = direction @ columns.T - (mean * direction).sum(axis=1, keepdims=True)
    lost = ~np.isfinite(change).all(axis=1)  # the Hessian is zero or nearly so: there is no step
    direction[lost], change[lost] = 0, 0
    decrement = (gradient * direction).sum(axis=1)
    grown = np.maximum(1 + change, 0)
    missed = np.linalg.norm((q * grown) @ columns - moments, axis=1) + ROUNDING * np.sqrt(m)
    possible = (change.min(axis=1) >= -1) & (missed <= SOLVED)
    gap = np.where(possible, (q * _entropy_of(change)).sum(axis=1), np.inf)
    noise = 2 * missed * (1 + np.linalg.norm(theta + direction, axis=1))
    return direction, gap + np.where(possible, noise, 0), noise, log_q, change, decrement


def second_moments(columns: np.ndarray, q: np.ndarray, pairs: np.ndarray | None) -> np.ndarray:
    """U^T diag(q) U of each row of q, (n, m, m)."""
    m = columns.shape[1]
    if pairs is None:
        return np.stack([(columns * row[:, None]).T @ columns for row in q])
    moments = np.empty((len(q), m, m))
    first, second = np.tril_indices(m)
    moments[:, first, second] = moments[:, second, first] = q @ pairs
    return moments


def _solved(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """H^-1 g of each row, with a ridge far below rounding where H is singular, and one step of refinement."""
    m = hessian.shape[1]
    trace = np.maximum(np.trace(hessian, axis1=1, axis2=2), 1e-290)
    ridged = hessian.copy()
    for ridge in (RIDGE, 1e-12, 1e-9, 1e-6):
        ridged[:, range(m), range(m)] = hessian[:, range(m), range(m)] + ridge * trace[:, None]
        try:
            inverse = np.linalg.inv(np.linalg.cholesky(ridged))
        except np.linalg.LinAlgError:
            continue
        break
    else:
        return gradient / trace[:, None]

    def solve(right: np.ndarray) -> np.ndarray:
        return np.einsum("nba,nb->na", inverse, np.einsum("nab,nb->na", inverse, right))

    direction = solve(gradient)
    return direction + solve(gradient - np.einsum("nab,nb->na", hessian, direction))


def _length(log_q: np.ndarray, change: np.ndarray, decrement: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of Newton's steps at which the objective falls by a share of what its slope promises (Armijo); the falls.

    `change`, (u_i - m)^T direction, is the relative change of q_i, and `decrement` the product of gradient and step.

    Where no probability changes by more than the share `QUADRATIC`, the whole step lowers the objective, by about half
    of what the slope promises, too little to be measured; there the fall is given as 0.
    """
    length = np.minimum(1, LONGEST / np.maximum(abs(change).max(axis=1), 1e-300))
    fall = np.zeros(len(length))
    waiting = np.flatnonzero(abs(change).max(axis=1) > QUADRATIC)
    for _ in range(HALVINGS):
        s = length[waiting]
        grown = np.exp(log_q[waiting]) * np.expm1(s[:, None] * change[waiting])
        fall[waiting] = s * decrement[waiting] - np.log1p(grown.sum(axis=1))
        short = ~(fall[waiting] >= 1e-4 * s * decrement[waiting] - ROUNDING)
        waiting = waiting[short]
        length[waiting] /= 2
        if not len(waiting):
            break
    fall[waiting] = 0
    return length, fall


def _entropy_of(x: np.ndarray) -> np.ndarray:
    """(1 + x) log(1 + x) - x, without cancellation for small x; for x >= -1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = (1 + x) * np.log1p(np.maximum(x, -1)) - x
    return np.where(abs(x) < 1e-3, x * x * (0.5 - x * (1 / 6 - x * (1 / 12 - x / 20))), np.where(x <= -1, 1.0, exact))
