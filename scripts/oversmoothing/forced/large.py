"""The nearest distribution of a head over a large vocabulary, one position at a time.

A full Newton step costs a product of v m^2 numbers, seconds at v = 50,000 and m = 768. So the Hessian is factorised in
float32 at some point c of the way, and steps of conjugate gradients, preconditioned with that factor, correct it at
the others; it is factorised again once they need too many.

Certificate, as in `projection`: with H_c = U^T (diag c - c c^T) U at any c > 0 and H_c x = U^T p - U^T q, the vector
t_i = q_i + c_i (u_i - U^T c)^T x has the truth's moments, so the gap is KL(t || q) where t >= 0. The system is solved
with the factor in float32 and refined in float64.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.linalg.blas import ssyrk
from scipy.special import logsumexp

from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.head import Head

NEGLIGIBLE = 1e-9  # nats: a divergence of which no more is asked
SHARE = 1e-3  # of the divergence, up to which its gap is closed
STEPS = 100
MOST_PRODUCTS = 12  # of one solution by conjugate gradients, above which the Hessian is factorised again
MOST_FACTORS = 12  # of a position
RIDGE = 1e-6  # added to the factorised Hessian, relative to its mean diagonal: float32 knows no more
LONGEST = 20.0  # nats by which a step changes a log-probability, so that nothing overflows
HALVINGS = 60  # of a step that overshoots
REFINEMENTS = 4  # of what a certificate misses of the moments


class Large:
    """A head over a large vocabulary, with its basis in single precision beside it."""

    def __init__(self, head: Head) -> None:
        self.head = head
        self.columns = head.columns
        self.single = np.asfortranarray(head.columns.T.astype(np.float32))  # (m, v)

    def project(self, p: np.ndarray, theta: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Coordinates (m,), log-probabilities (v,) and gap of the distribution nearest to p (v,).

        It ends once the gap is at most the tolerance or the share `SHARE` of the divergence, or when rounding or the
        number of steps ends it.
        """
        point, gap = _Point(self, p, theta), np.inf
        for _ in range(STEPS):
            direction, change = point.newton()
            decrement = float(point.gradient @ direction)
            reached = float(divergence(p[None], point.log_q[None])[0])
            enough = max(tolerance, SHARE * reached)
            if decrement <= enough:
                gap = min(gap, point.gap(change))
            if gap <= enough or reached <= NEGLIGIBLE or decrement <= 0 or point.factors > MOST_FACTORS:
                break
            if not point.move(direction, change, decrement):
                break
        else:
            return point.theta, point.log_q, gap  # of a point before, above which the objective has not risen
        return point.theta, point.log_q, point.gap(change) if np.isinf(gap) else gap


class _Point:
    """A point of the family on the way to a truth."""

    def __init__(self, large: Large, p: np.ndarray, theta: np.ndarray) -> None:
        self.large, self.moments = large, p @ large.columns
        self.theta, self.factors = theta, 0
        self.z = large.columns @ theta + large.head.bias
        self._measure()
        self._factorise()

    def newton(self) -> tuple[np.ndarray, np.ndarray]:
        """Newton's direction x and the relative changes (u_i - m)^T x that it makes."""
        direction, products = self._conjugate_gradients()
        if products > MOST_PRODUCTS:
            self._factorise()
            direction, _ = self._conjugate_gradients()
        return direction, self.large.columns @ direction - self.mean @ direction

    def move(self, direction: np.ndarray, change: np.ndarray, decrement: float) -> bool:
        """Step along a direction as far as the objective falls; False if rounding hides the fall."""
        length = min(1.0, LONGEST / max(float(abs(change).max()), 1e-300))
        for _ in range(HALVINGS):
            fall = length * decrement - float(np.log1p(self.q @ np.expm1(length * change)))
            if fall >= 1e-4 * length * decrement:
                self.theta = self.theta + length * direction
                self.z = self.z + length * (change + self.mean @ direction)
                self._measure()
                return True
            length /= 2
        return False

    def gap(self, change: np.ndarray) -> float:
        """Gap of the certificate: the change by Newton's direction, and what it misses of the moments by the factor.

        `change` has to be that of this point: of another it would not sum to 0 under q.
        """
        t = self.q * (1 + change)
        for _ in range(REFINEMENTS):
            missed = self.moments - t @ self.large.columns
            x = self._solve(missed)
            t = t + self.reference * (self.large.columns @ x - self.reference_mean @ x)
        missed = self.moments - t @ self.large.columns
        if t.min() < 0:
            return np.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            grown = np.where(t > 0, t * (np.log(t) - self.log_q), 0.0) - t + self.q
        return float(grown.sum() + 2 * np.linalg.norm(missed) * (1 + np.linalg.norm(self.theta)))

    def _measure(self) -> None:
        self.log_q = self.z - logsumexp(self.z)
        self.q = np.exp(self.log_q)
        self.mean = self.q @ self.large.columns
        self.gradient = self.moments - self.mean

    def _factorise(self) -> None:
        self.reference, self.reference_mean, self.factors = self.q, self.mean, self.factors + 1
        single = self.large.single
        mean = self.mean.astype(np.float32)
        hessian = ssyrk(1.0, single * np.sqrt(self.q).astype(np.float32), lower=1) - np.outer(mean, mean)
        diagonal = np.einsum("ii->i", hessian)
        ridge = max(float(diagonal.mean()), 1e-30) * RIDGE
        for _ in range(8):
            diagonal += np.float32(ridge)
            try:
                self.factor = cholesky(hessian, lower=True, check_finite=False)
                return
            except LinAlgError:
                ridge *= 10
        self.factor = np.eye(len(mean), dtype=np.float32)

    def _solve(self, right: np.ndarray) -> np.ndarray:
        size = max(float(abs(right).max()), 1e-300)  # so that float32 holds it
        return cho_solve((self.factor, True), (right / size).astype(np.float32), check_finite=False) * float(size)

    def _conjugate_gradients(self) -> tuple[np.ndarray, int]:
        """H^-1 gradient, the nearer the goal the more exactly, and the number of products with H that it took."""
        q, single = self.q.astype(np.float32), self.large.single
        solution, residual = np.zeros_like(self.gradient), self.gradient.copy()
        away = self._solve(residual)
        towards, energy = away, float(residual @ away)
        first = energy
        for count in range(2 * MOST_PRODUCTS):
            if not energy > min(0.01, first) * first:
                return solution, count
            size = max(float(abs(towards).max()), 1e-300)
            moved = (towards / size).astype(np.float32) @ single
            moved -= q @ moved
            product = (single @ (q * moved)).astype(np.float64) * size
            product -= self.mean * float((q * moved).sum(dtype=np.float64) * size)
            length = energy / float(towards @ product)
            solution, residual = solution + length * towards, residual - length * product
            away = self._solve(residual)
            energy, before = float(residual @ away), energy
            towards = away + (energy / before) * towards
        return solution, count + 1
