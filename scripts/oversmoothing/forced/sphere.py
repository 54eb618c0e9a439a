"""Descent to the smallest divergence of a family whose coordinates lie on the unit sphere."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from oversmoothing.forced.large import scatter
from oversmoothing.forced.projection import BATCH, LARGEST_DENSE, second_moments
from oversmoothing.forced.search import TRIALS

STEPS = 100
LAST = 1e-9  # nats that a step promises, at which it is the last: near a minimum the next would promise the square
SLACK = 1e-15  # nats by which rounding may hide that a step descends
BISECTIONS = 50
RARE = 1e-4  # probability of all tokens together that a Hessian over a large vocabulary leaves out, at most
BLOCK = 1024  # tokens that are cast to float32 at a time
FLAT = 1e-9  # curvature, as a share of the largest, below which an axis counts as having this one


@dataclass(frozen=True)
class Family:
    """The distributions log q = b + A y + constant."""

    bias: np.ndarray  # b (v,)
    columns: np.ndarray  # A (v, k), of full rank and centred
    pairs: np.ndarray | None  # products of all pairs of columns

    def log_q(self, y: np.ndarray) -> np.ndarray:
        """Return log-probabilities (n, v) at points y (n, k)."""
        z = y @ self.columns.T + self.bias
        return z - logsumexp(z, axis=1, keepdims=True)

    def height(self, moments: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return KL(p || q) at points y, less a constant of p, and its gradient; `moments` are A^T p (n, k)."""
        z = y @ self.columns.T + self.bias
        total = logsumexp(z, axis=1)
        return total - (y * moments).sum(axis=1), np.exp(z - total[:, None]) @ self.columns - moments

    def hessian(self, q: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Return the second derivatives (n, k, k) of the divergence at q (n, v) with mean A^T q.

        Over a large vocabulary they are computed in float32, and without the tokens that have `RARE` of the
        probability: steps need a direction, and what they reach is judged in float64 over all tokens.
        """
        v, k = self.columns.shape
        if v * k * k > LARGEST_DENSE:
            return np.stack([self._hessian_in_float32(*one) for one in zip(q, mean, strict=True)])
        return second_moments(self.columns, q, self.pairs) - mean[:, :, None] * mean[:, None, :]

    def _hessian_in_float32(self, q: np.ndarray, mean: np.ndarray) -> np.ndarray:
        counted = np.flatnonzero(q > RARE / len(q))
        found = scatter(self.columns, counted, q[counted], mean, BLOCK)
        return np.tril(found).astype(np.float64) + np.tril(found, -1).T


def scaled(y: np.ndarray) -> np.ndarray:
    """Return points of the sphere in the directions y (n, k); a fixed one for 0."""
    y = np.where((y != 0).any(axis=1, keepdims=True), y, np.eye(1, y.shape[1]))
    return y / np.linalg.norm(y, axis=1, keepdims=True)


def gap_in_ball(gradient: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return |g| + g . y: how far below a point of the sphere the ball can lie, at most, by convexity."""
    slope = (gradient * y).sum(axis=1)
    across = ((gradient - slope[:, None] * y) ** 2).sum(axis=1)
    length = np.sqrt(slope**2 + across)
    return np.where(slope < 0, across / np.maximum(length - slope, 1e-300), length + slope)


def lowest_of_quadratic(family: Family, centre: np.ndarray) -> np.ndarray:
    """Return the lowest points on the sphere of the divergence's second-order approximation at its free minimum.

    With curvatures c and parts x of the free minimum along their axes these are c x / (c + m) for the one m > -min(c)
    at which the length is 1 (a trust region's problem).
    """
    q = np.exp(family.log_q(centre))
    curvatures, axes = np.linalg.eigh(family.hessian(q, q @ family.columns))
    curvatures = np.maximum(curvatures, 1e-15 * curvatures[:, -1:] + 1e-290)
    pulls = curvatures * np.einsum("nab,na->nb", axes, centre)
    above = curvatures - curvatures[:, :1]
    high = np.linalg.norm(pulls, axis=1) + 1e-140
    low = 1e-20 * high
    for _ in range(BISECTIONS):
        middle = np.sqrt(low) * np.sqrt(high)
        longer = np.linalg.norm(pulls / (above + middle[:, None]), axis=1) > 1
        low, high = np.where(longer, middle, low), np.where(longer, high, middle)
    parts = pulls / (above + high[:, None])
    missing = np.sqrt(np.maximum(1 - (parts**2).sum(axis=1), 0))  # where the centre has no part on the flattest axis
    parts[:, 0] += np.where(parts[:, 0] < 0, -missing, missing)
    return scaled(np.einsum("nab,nb->na", axes, parts))


def descend(family: Family, moments: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return ends (n, k) of descents from points y of the sphere, by Newton's method on it with a line search.

    (P.-A. Absil, R. Mahony and R. Sepulchre, "Optimization algorithms on matrix manifolds", 2008, chapter 6.)
    """
    y, left = y.copy(), np.arange(len(y))
    v, k = family.columns.shape
    size = max(1, BATCH // (v + k * k))
    for _ in range(STEPS):
        going = np.zeros(len(left), bool)
        for begin in range(0, len(left), size):
            some = left[begin : begin + size]
            y[some], going[begin : begin + size] = _step(family, moments[some], y[some])
        left = left[going]
        if not len(left):
            break
    return y


def _step(family: Family, moments: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points after a step, which lie lower (Armijo's rule), and which of them are to go further."""
    q = np.exp(family.log_q(y))
    mean = q @ family.columns
    gradient = mean - moments
    direction = _direction(family.hessian(q, mean), gradient, y)
    promise = -(gradient * direction).sum(axis=1)
    end, moved, length = y.copy(), np.zeros(len(y), bool), 1.0
    for _ in range(TRIALS):
        some = np.flatnonzero(~moved)
        there = scaled(y[some] + length * direction[some])
        by = there - y[some]
        change = by @ family.columns.T - (mean[some] * by).sum(axis=1, keepdims=True)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            fall = -(gradient[some] * by).sum(axis=1) - np.log1p((q[some] * np.expm1(change)).sum(axis=1))
        lower = fall >= 1e-4 * length * promise[some] - SLACK
        end[some[lower]], moved[some[lower]] = there[lower], True
        if moved.all():
            break
        length /= 2
    return end, moved & (promise > LAST)


def _direction(hessian: np.ndarray, gradient: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Newton's directions on the sphere, not longer than its radius; curvatures count by size, to leave saddles.

    On the sphere the Hessian is that of the space less the slope outwards times the identity.
    """
    slope = (gradient * y).sum(axis=1)
    largest = np.trace(hessian, axis1=1, axis2=2) + abs(slope) + 1e-290
    curved = hessian - slope[:, None, None] * np.eye(y.shape[1])
    outwards = np.einsum("nab,nb->na", curved, y)
    upright = (outwards * y).sum(axis=1) + largest  # so that the axis along y is no flat one
    curved = curved - y[:, :, None] * outwards[:, None, :] - outwards[:, :, None] * y[:, None, :]
    curved = curved + (upright[:, None] * y)[:, :, None] * y[:, None, :]
    across = gradient - slope[:, None] * y
    direction, convex = np.empty_like(y), slope < -FLAT * largest
    direction[convex] = -np.linalg.solve(curved[convex], across[convex, :, None])[:, :, 0]
    curvatures, axes = np.linalg.eigh(curved[~convex])
    curvatures = np.maximum(abs(curvatures), FLAT * largest[~convex, None])
    parts = np.einsum("nab,na->nb", axes, across[~convex]) / curvatures
    direction[~convex] = -np.einsum("nab,nb->na", axes, parts)
    direction -= (direction * y).sum(axis=1, keepdims=True) * y
    return direction / np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1)
