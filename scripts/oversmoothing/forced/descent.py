"""Descent in a head and in all hidden vectors together, from the divergence of softmax(W h_i) to truths p_i.

L-BFGS in coordinates in which the Hessian is near the identity. First W and h are transformed so that the h are white
and the columns of W orthogonal, weighted by the truths' mean. Then each row of W and each h is measured in the metric
of its own block of the Hessian, sum_i q_ij h_i h_i^T / n for row j and W^T (diag q_i - q_i q_i^T) W / n for h_i; where
all blocks would hold too many numbers, in what they are on average.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.special import softmax, xlogy

KEPT = 10  # steps that L-BFGS remembers
BLOCKS = 1 << 25  # numbers in all blocks
RIDGE = 1e-2, 1e-3  # added to the blocks of h and of W, relative to their mean diagonal
STALLED = 1e-6  # share of the divergence; a step that gains less is the last
FLAT = 0.1  # share of the mean curvature; of sharp truths, no block is taken for flatter
NEGLIGIBLE = 1e-12  # relative, of a direction or a token without which nothing changes


def descend(
    p: np.ndarray,
    weights: np.ndarray,
    hidden: np.ndarray,
    iterations: int,
    step: Callable[[], object],
    sharp: bool = False,
    span: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return a head (v, r), hidden vectors (n, r) and their mean divergence from truths p (n, v), lower or as low.

    `sharp` measures rows of W with max(p, q) in place of q: else the first steps are too long where q is far below p.
    W moves in its `span` (v, k) alone, if there is one: columns as `whitened` returns, in which its Hessian is at most
    about the identity, and below it along what the truths are sharp in.
    """
    weights, hidden = _balanced(p, weights, hidden)
    by_row, by_position = _metric(p, weights, hidden, sharp, span)
    moves = weights.shape if span is None else (span.shape[1], weights.shape[1])
    n, rows = len(p), moves[0] * moves[1]
    entropy = xlogy(p, p).sum()
    lowest, best = np.inf, np.zeros(rows + hidden.size)  # a search that fails may end above the lowest point

    def moved(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        w = weights + by_row(x[:rows].reshape(moves), False)
        return w, hidden + by_position(x[rows:].reshape(hidden.shape), False)

    def divergence(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal lowest, best
        w, h = moved(x)
        z = h @ w.T
        z -= z.max(axis=1, keepdims=True)
        value = entropy - np.einsum("ij,ij->", p, z)
        np.exp(z, out=z)
        total = z.sum(axis=1, keepdims=True)
        value = float(value + np.log(total).sum()) / n
        z /= total
        z -= p
        z /= n
        if value < lowest:
            lowest, best = value, x.copy()
        return value, np.concatenate([by_row(z.T @ h, True).ravel(), by_position(z @ w, True).ravel()])

    stalled = STALLED * max(divergence(best)[0], 0)
    options = {"maxiter": iterations, "maxfun": 3 * iterations, "maxcor": KEPT, "gtol": 0, "ftol": stalled}
    minimize(divergence, best, jac=True, method="L-BFGS-B", callback=lambda x: step(), options=options)
    return *moved(best), lowest


Metric = Callable[[np.ndarray, bool], np.ndarray]  # x -> M x, or with True M^T x, of each row of x


def whitened(weights: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return columns (v, k) with the span of centred ones (v, d), orthonormal if tokens are weighted by `mean` (v,)."""
    centred = weights - mean @ weights
    sizes, axes = eigh(centred.T @ (mean[:, None] * centred))
    known = sizes > NEGLIGIBLE * sizes[-1]
    return np.asarray(centred @ (axes[:, known] / np.sqrt(sizes[known])))


def _balanced(p: np.ndarray, weights: np.ndarray, hidden: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the same logits, up to a constant, with white hidden vectors and orthogonal columns."""
    mean = p.mean(axis=0)
    centred = weights - mean @ weights
    sizes, axes = eigh(hidden.T @ hidden / len(hidden))
    sizes = np.sqrt(np.maximum(sizes, NEGLIGIBLE * max(sizes[-1], 1e-300)))
    centred, hidden = centred @ (axes * sizes), hidden @ (axes / sizes)
    turn = eigh(centred.T @ (mean[:, None] * centred))[1]
    return centred @ turn, hidden @ turn


def _metric(
    p: np.ndarray, weights: np.ndarray, hidden: np.ndarray, sharp: bool, span: np.ndarray | None
) -> tuple[Metric, Metric]:
    """Return maps of steps in which the Hessian's blocks are the identity to steps of W's rows and of h."""
    (v, r), n = weights.shape, len(p)
    if span is not None:
        return _in_span(span), _by_block(_roots(_of_positions(weights, hidden) / n, RIDGE[0], FLAT))
    if (v + n) * r * r > BLOCKS:
        mean = p.mean(axis=0)
        of_row = np.sqrt(mean + NEGLIGIBLE * mean.max())[:, None]
        of_column = np.sqrt((mean[:, None] * weights**2).sum(axis=0))
        of_column = np.maximum(of_column, NEGLIGIBLE * max(of_column.max(), 1e-300)) / np.sqrt(n)
        return lambda x, _: x / of_row, lambda x, _: x / of_column
    q = softmax(hidden @ weights.T, axis=1)
    moments = q @ weights
    blocks = np.stack([(weights * row[:, None]).T @ weights for row in q])
    blocks -= moments[:, :, None] * moments[:, None, :]
    curvature = np.maximum(p, q) if sharp else q
    of_rows = np.stack([(hidden * row[:, None]).T @ hidden for row in curvature.T])
    try:
        return _by_block(_roots(of_rows / n, RIDGE[1])), _by_block(_roots(blocks / n, RIDGE[0]))
    except np.linalg.LinAlgError:  # of a sharp q the difference above is all rounding
        blocks = _of_positions(weights, hidden)
        return _by_block(_roots(of_rows / n, RIDGE[1], FLAT)), _by_block(_roots(blocks / n, RIDGE[0], FLAT))


def _of_positions(weights: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Return W^T (diag q_i - q_i q_i^T) W of each position (n, r, r)."""
    return np.stack([((c := weights - q @ weights) * q[:, None]).T @ c for q in softmax(hidden @ weights.T, axis=1)])


def _in_span(span: np.ndarray) -> Metric:
    return lambda x, transposed: span.T @ x if transposed else span @ x


def _roots(blocks: np.ndarray, ridge: float, flat: float = 0.0) -> np.ndarray:
    """Return the inverse of the lower Cholesky factor of each block (k, r, r).

    The flattest counts as a share of the mean one.
    """
    size = np.maximum(np.trace(blocks, axis1=1, axis2=2) / blocks.shape[1], 1e-300)
    size = np.maximum(size, flat * size.mean())
    blocks += (ridge * size)[:, None, None] * np.eye(blocks.shape[1])
    return np.linalg.inv(np.linalg.cholesky(blocks))


def _by_block(roots: np.ndarray) -> Metric:
    return lambda x, transposed: np.einsum("kab,kb->ka" if transposed else "kba,kb->ka", roots, x)
