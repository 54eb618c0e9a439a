"""L1 Lewis weights: one metric in which every token's share of the constraints is its norm (Cohen and Peng 2015).

Let a_j = p_j u_j be the columns of the constraints, r their rank, and

    M = sum_j a_j a_j^T / w_j,      w_j = |a_j| in the metric of M^-1.

These equations determine the weights w; since w_j = a_j^T M^-1 a_j / w_j, they sum to trace(M^-1 M) = r.

Theorem. A token with w_i <= min(1/2, 1 - 1/E) is rejected by BAT. As the weights sum to r, at most
r / min(1/2, 1 - 1/E) tokens survive, however many there are; for E <= 2 that is r E / (E - 1).

Proof. Let z_i = -1 and z_j = a_j^T M^-1 a_i / (w_j (1 - w_i)) for the others. Without token i, the sum of
a_j a_j^T / w_j is M - a_i a_i^T / w_i, which maps M^-1 a_i to (1 - w_i) a_i. So sum_j a_j z_j = 0, and q = p (1 + z)
satisfies the constraints with q_i = 0. By Cauchy and Schwarz |a_j^T M^-1 a_i| <= w_j w_i, so |z_j| <= w_i / (1 - w_i).
That is at most 1, hence q_j >= 0, if w_i <= 1/2, and at most E - 1, hence q_j <= E p_j, if w_i <= 1 - 1/E.

The iteration w <- |a_j| in M(w)^-1 halves the error of log w in each step. It need not have converged: for any w > 0,
with lengths l_j = |a_j| in M^-1 and s_i = l_i^2 / w_i, the same z divided by 1 - s_i has |z_j| <= max(l / w) l_i /
(1 - s_i).

References
----------
M. B. Cohen and R. Peng, "Lp row sampling by Lewis weights", STOC 2015.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular
from scipy.linalg.blas import dsyrk, dtrmm

STEPS = 5  # of the iteration, from the Euclidean norms
DEPENDENT = 1e-12  # share of a column below which what others do not explain of it is rounding
PRECISE = 1e-10  # skew above which a metric is factorised once more
ROUNDING = 2.0**-51  # of a product and of its sum with others, with room

Factorise = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Metric:
    """The metric of M^-1, M = A diag(1/w) A^T = F F^T, for the columns A (m, k) of some tokens.

    Attributes
    ----------
    rows : int array, shape (r,)
        The constraints that F describes, independent on these tokens; the others follow from them.
    factor : float64 array, shape (r, r)
        F, lower triangular.
    whitened : float64 array, shape (r, k)
        B = F^-1 A.
    weights, lengths : float64 arrays, shape (k,)
        w and l, the norms of B's columns; equal once the iteration has converged.
    skew : float
        Frobenius norm of B diag(1/w) B^T - I, from rounding.
    defect : float
        Largest norm of a column of B - F^-1 A, relative to the column's length, from rounding.
    size : float
        Sum of the norms of A's columns.
    spread : float
        Frobenius norm of F^-1, by which whitening enlarges rounding errors of A itself.
    """

    rows: np.ndarray
    factor: np.ndarray
    whitened: np.ndarray
    weights: np.ndarray
    lengths: np.ndarray
    skew: float
    defect: float
    size: float
    spread: float

    @property
    def shares(self) -> np.ndarray:
        """S = l^2 / w, at most 1: the share of M that is a token's own in its own direction (k,)."""
        return np.minimum(self.lengths**2 / self.weights, 1.0)

    @property
    def ratio(self) -> float:
        """Largest l_j / w_j, 1 once the iteration has converged."""
        return float((self.lengths / self.weights).max())

    def error(self, most: float) -> float:
        """What B z may miss of F^-1 A z, for z with entries of size at most `most`."""
        return self.defect * float(self.lengths.sum()) * most

    def repair(self, residuals: np.ndarray, shares: np.ndarray | float, most: float) -> np.ndarray:
        """Size of a correction that makes z with entries up to `most` satisfy the constraints exactly.

        If F^-1 A z = c, then z_j - b_j^T y / w_j with G y = c does, where G = B diag(1/w) B^T, less b_i b_i^T / w_i if
        z_i has to stay. The smallest eigenvalue of G is at least 1 - s_i - skew, so no entry moves by more than
        max(l / w) |c| / (1 - s_i - skew). With F^-1 A in place of B, G changes by 2 sum_j s_j times the defect at most;
        the factor 2 of the whole covers the lengths' own rounding.

        Parameters
        ----------
        residuals : array, shape (n,)
            Norms of B z (and what else is in the sum).
        shares : array, shape (n,), or 0
            s_i of the tokens that stay.
        most : float

        Returns
        -------
        float64 array, shape (n,)
            Infinite where nothing is proved.
        """
        room = np.maximum(1 - shares - self.skew - 2 * self.defect * float(self.shares.sum()), 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rounding = ROUNDING * self.size * self.spread * most
            found = 2 * self.ratio * (residuals + self.error(most) + rounding) / room
        return np.where(np.isfinite(found), found, np.inf)

    def whiten(self, vectors: np.ndarray) -> np.ndarray:
        """F^-1 c of vectors c, (m, n) -> (r, n)."""
        return solve_triangular(self.factor, vectors[self.rows], lower=True, check_finite=False)

    def lift(self, y: np.ndarray, m: int) -> np.ndarray:
        """Combinations of all m constraints, (m, n), whose products with A are those of y, (r, n), with B."""
        lifted = np.zeros((m, y.shape[1]))
        lifted[self.rows] = solve_triangular(self.factor, y, lower=True, trans=1, check_finite=False)
        return lifted


def lewis_metric(columns: np.ndarray, steps: int = STEPS, start: np.ndarray | None = None) -> Metric:
    """Metric of the Lewis weights.

    M is factorised by Cholesky, or, where masses span so many orders of magnitude that this loses too many digits, from
    the columns themselves by QR with pivoting.

    Parameters
    ----------
    columns : float64 array, shape (m, k)
        A; no column is zero.
    steps : int
        Of the iteration.
    start : array, shape (k,), optional
        Approximate weights to begin with.
    """
    if start is None:
        lengths = np.linalg.norm(columns, axis=0)
        start = lengths * (len(columns) / lengths.sum())
    try:
        return _polish(columns, *_iterate(columns, start, steps, _by_cholesky))
    except LinAlgError:
        return _polish(columns, *_iterate(columns, start, steps, _by_qr))


def gram(columns: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """A diag(scale) A^T, of which only the lower triangle is filled in."""
    return dsyrk(1.0, np.asfortranarray(columns * np.sqrt(scale)), lower=1)


def _iterate(columns: np.ndarray, weights: np.ndarray, steps: int, factorise: Factorise) -> tuple:
    for _ in range(steps):
        rows, factor = factorise(columns, weights)
        whitened = solve_triangular(factor, _take(columns, rows), lower=True, check_finite=False)
        previous, weights = weights, np.sqrt(np.einsum("ij,ij->j", whitened, whitened))
    return rows, factor, whitened, previous


def _polish(
    columns: np.ndarray, rows: np.ndarray, factor: np.ndarray, whitened: np.ndarray, weights: np.ndarray
) -> Metric:
    """Measure the errors of a metric; if its factor has lost many digits, factorise once more what it left.

    Raises
    ------
    LinAlgError
        If it has lost all.
    """
    skew = _skew(whitened, weights)
    if skew > PRECISE:
        second = cholesky(gram(whitened, 1 / weights), lower=True, overwrite_a=True, check_finite=False)
        whitened = solve_triangular(second, whitened, lower=True, check_finite=False)
        factor = np.tril(factor) @ second
        skew = _skew(whitened, weights)
    lengths = np.sqrt(np.einsum("ij,ij->j", whitened, whitened))
    missing = _take(columns, rows) - dtrmm(1.0, factor, whitened, lower=1)
    missing = solve_triangular(factor, missing, lower=True, overwrite_b=True, check_finite=False)
    defect = float((np.sqrt(np.einsum("ij,ij->j", missing, missing)) / lengths).max())
    size = float(np.linalg.norm(columns, axis=0).sum())
    spread = float(np.linalg.norm(solve_triangular(factor, np.eye(len(factor)), lower=True, check_finite=False)))
    return Metric(rows, factor, whitened, weights, lengths, skew, defect, size, spread)


def _skew(whitened: np.ndarray, weights: np.ndarray) -> float:
    unit = gram(whitened, 1 / weights)
    unit[np.diag_indices_from(unit)] -= 1
    return float(np.sqrt(2 * (np.tril(unit, -1) ** 2).sum() + (unit.diagonal() ** 2).sum()))


def _take(columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows in order, without a copy where they are all of them."""
    return columns if np.array_equal(rows, np.arange(len(columns))) else columns[rows]


def _by_cholesky(columns: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    factor = cholesky(gram(columns, 1 / weights), lower=True, overwrite_a=True, check_finite=False)
    return np.arange(len(columns)), factor


def _by_qr(columns: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factorise from the columns: with rows sorted by size, small ones keep their digits (Cox and Higham 1998).

    Constraints that others imply on every token are dropped.
    """
    scaled = (columns / np.sqrt(weights)).T
    order = np.argsort(-abs(scaled).max(axis=1), kind="stable")
    triangle, rows = qr(scaled[order], mode="r", pivoting=True, check_finite=False)
    size = abs(triangle.diagonal())
    rank = int((size > DEPENDENT * size[0]).sum())
    if not _implied(columns, rows[:rank], rows[rank:]):
        rank = int((size > 0).sum())
    return rows[:rank], np.asfortranarray(triangle[:rank, :rank].T)


def _implied(columns: np.ndarray, kept: np.ndarray, dropped: np.ndarray) -> bool:
    """Whether on every token some constraints are combinations of others, up to rounding."""
    unit = columns / np.linalg.norm(columns, axis=0)
    combination = np.linalg.lstsq(unit[kept].T, unit[dropped].T, rcond=None)[0]
    return bool((abs(unit[dropped] - combination.T @ unit[kept]) <= DEPENDENT).all())
