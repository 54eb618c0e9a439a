"""The nearest distribution of a head over a large vocabulary, one position at a time.

A full Newton step costs a product of v m^2 numbers. But few tokens have probability, so the Hessian is estimated from
the most probable ones and a sample of the rest, whose weights c keep its expectation. Where that fits badly along a
direction, the sample grows, at last to all tokens. A step then costs two products of v m numbers.

Far from the goal a step solves a least-squares problem instead. With the logarithmic means c_i = (p_i - q_i) /
log(p_i / q_i) of both, H_c x = U^T p - U^T q holds for the x for which U x is nearest to log p - log q under c.

Certificate, as in `projection`: with H_c = U^T (diag c - c c^T / C) U at any weights c >= 0 of sum C and H_c x =
U^T p - U^T q, the vector t_i = q_i + c_i (u_i - U^T c / C)^T x has the truth's moments. The system is solved with the
factor in float32 and refined in float64, both on the sample: elsewhere t is q. Where t, negative values set to 0, has
the moments up to rounding, the gap is KL(t || q).
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.linalg.blas import ssyrk
from scipy.special import log_softmax

from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.head import Head
from oversmoothing.forced.search import ROUNDING, lengths

NEGLIGIBLE = 1e-9  # nats: a divergence of which no more is asked
SHARE = 1e-3  # of the divergence, up to which its gap is closed
CLOSE = 1e-5  # nats, up to which the gap of a large divergence is closed
STEPS = 100
SAMPLED = 8  # tokens of the first sample, as a multiple of the rank
FITS = 1.5  # ratio of the Hessian along a direction to its estimate, or the inverse, above which the sample doubles
RIDGE = 1e-6  # added to the factorised Hessian, relative to its mean diagonal: float32 knows no more
REFINEMENTS = 8  # of what a certificate misses of the moments
SOLVED = 1e-12  # error of the moments of t up to which it proves a gap; a q* near infinity would multiply it
FAR = 1.0  # nats of a step's decrement, above which the next one is of least squares, as the first is
KEPT = 0.5  # nats, the largest change of a log-probability after which the factor is kept
BLOCK = 8192  # tokens that are cast to float32 at a time


def project_one(head: Head, p: np.ndarray, theta: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Return coordinates (m,), log-probabilities (v,) and gap of a head's distribution nearest to p (v,).

    The search begins at theta (m,).

    It ends once the gap is at most the tolerance, or `CLOSE` and the share `SHARE` of the divergence, or when rounding
    or the number of steps ends it.
    """
    point, gap = _Point(head, p, theta), np.inf
    weights = logarithmic_means(p, point.log_q)
    for _ in range(STEPS):
        direction, change, decrement = point.step(weights)
        reached = float(divergence(p[None], point.log_q[None])[0])
        enough = enough_of(reached, tolerance)
        gap = min(gap, reached)  # as no divergence is negative
        if decrement <= enough:
            gap = min(gap, point.gap())  # that of a point before holds too, as no step raises the objective
        if gap <= enough or decrement <= ROUNDING:
            break
        if not point.move(direction, change, decrement):
            break
        weights = logarithmic_means(p, point.log_q) if decrement > FAR else point.q
    return point.theta, point.log_q, gap if gap <= enough else min(gap, point.gap())


def enough_of(reached: float, tolerance: float) -> float:
    """Return the gap, in nats, at which a position that has come down to a divergence needs no more."""
    return max(tolerance, NEGLIGIBLE if reached <= NEGLIGIBLE else min(SHARE * reached, CLOSE))


class _Point:
    """A point of the family on the way to a truth."""

    def __init__(self, head: Head, p: np.ndarray, theta: np.ndarray) -> None:
        self.columns, self.moments = head.columns, p @ head.columns
        self.theta, self.sampled, self.moved = theta, SAMPLED * len(theta), np.inf
        self.z = head.columns @ theta + head.bias
        self._measure()

    def step(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the direction x = H_c^-1 gradient at weights c (v,), the changes (u_i - m)^T x and gradient . x."""
        while True:
            renewed = self.moved > KEPT
            if renewed:
                self._factorise(weights)
            direction = self._solve(self.gradient)
            decrement = float(self.gradient @ direction)
            change = self.columns @ direction - self.mean @ direction
            curvature = weights @ change**2 - (weights @ change) ** 2 / weights.sum()
            fits = decrement / FITS <= curvature <= decrement * FITS
            if fits or (renewed and self.sampled >= len(weights)):
                return direction, change, decrement
            self.sampled, self.moved = self.sampled * (2 if renewed else 1), np.inf

    def move(self, direction: np.ndarray, change: np.ndarray, decrement: float) -> bool:
        """Step to near the lowest point along a direction; return whether the step is taken.

        It is not if rounding hides that the objective falls.
        """
        length = float(lengths(self.log_q[None], change[None], np.array([decrement]))[0][0])
        self.theta = self.theta + length * direction
        self.z = self.z + length * (change + self.mean @ direction)
        self.moved = length * float(abs(change).max())
        self._measure()
        return length > 0

    def gap(self) -> float:
        """Return the gap of the certificate, infinite where it proves none."""
        t, missed = self.q.copy(), self.gradient
        for _ in range(REFINEMENTS):
            x = self._solve(missed)
            added = self.weights * (self.rows @ x - self.centre @ x)
            t[self.tokens] += added
            missed = missed - added @ self.rows
            if np.linalg.norm(missed) <= ROUNDING:
                break
        t = np.maximum(t, 0)
        missed = float(np.linalg.norm(self.moments - t @ self.columns) + abs(t.sum() - 1))
        if missed > SOLVED:
            return np.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            grown = np.where(t > 0, t * (np.log(t) - self.log_q), 0.0) - t + self.q
        return float(grown.sum() + 2 * missed * (1 + np.linalg.norm(self.theta)))

    def _measure(self) -> None:
        self.log_q = log_softmax(self.z)
        self.q = np.exp(self.log_q)
        self.mean = self.q @ self.columns
        self.gradient = self.moments - self.mean

    def _factorise(self, weights: np.ndarray) -> None:
        """Factor the Hessian H_c of a sample of the weights."""
        self.tokens, self.weights = sample(weights, self.sampled)
        self.rows = self.columns if len(self.tokens) == len(self.columns) else self.columns[self.tokens]
        self.centre = self.weights @ self.rows / float(self.weights.sum())
        hessian = scatter(self.columns, self.tokens, self.weights, self.centre, BLOCK)
        diagonal = np.einsum("ii->i", hessian)
        ridge = max(float(diagonal.mean()), 1e-30) * RIDGE
        for _ in range(8):
            diagonal += np.float32(ridge)
            try:
                self.factor = cholesky(hessian, lower=True, check_finite=False)
                return
            except LinAlgError:
                ridge *= 10
        self.factor = np.eye(len(self.mean), dtype=np.float32)

    def _solve(self, right: np.ndarray) -> np.ndarray:
        size = max(float(abs(right).max()), 1e-300)  # so that float32 holds it
        return cho_solve((self.factor, True), (right / size).astype(np.float32), check_finite=False) * float(size)


def scatter(columns: np.ndarray, tokens: np.ndarray, weights: np.ndarray, centre: np.ndarray, block: int) -> np.ndarray:
    """Return the scatter (m, m) of some weighted tokens about a centre (m,), in float32.

    Only its lower triangle counts.
    """
    found = np.zeros((len(centre), len(centre)), np.float32, order="F")
    for begin in range(0, len(tokens), block):
        some = slice(begin, begin + block)
        rows = columns[tokens[some]].astype(np.float32)
        rows -= centre.astype(np.float32)
        rows *= np.sqrt(weights[some]).astype(np.float32)[:, None]
        found = ssyrk(1.0, rows.T, beta=1.0, c=found, lower=1, overwrite_c=1)
    return found


def sample(weights: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return tokens and their weights, so that weighted sums over at most `size` tokens estimate those over all (v,).

    Half are the tokens of the largest weights. The others stand at even distances in the cumulated weights of the
    rest and share their sum; where several fall on one token, it is returned once.
    """
    if size >= len(weights):
        return np.arange(len(weights)), weights
    half = size // 2
    order = np.argpartition(-weights, half)
    largest, rest = order[:half], np.sort(order[half:])
    density = weights[rest] / max(float(weights[rest].sum()), 1e-300) + 1 / len(rest)
    cumulated = np.cumsum(density)
    step = cumulated[-1] / (size - half)
    drawn = np.bincount(np.searchsorted(cumulated, (np.arange(size - half) + 0.5) * step), minlength=len(rest))
    chosen = np.flatnonzero(drawn)
    shares = weights[rest[chosen]] * drawn[chosen] * step / density[chosen]
    return np.concatenate([largest, rest[chosen]]), np.concatenate([weights[largest], shares])


def logarithmic_means(p: np.ndarray, log_q: np.ndarray) -> np.ndarray:
    """Return (p - q) / log(p / q) of each token, between p and q; 0 where p is 0."""
    q = np.exp(log_q)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(p) - log_q
        return np.where(abs(ratio) < 1e-3, (p + q) / 2, np.where(p > 0, (p - q) / ratio, 0.0))
