"""L1 Lewis weights: one metric in which every token's share of the constraints is its norm (Cohen and Peng 2015).

Let a_j = p_j u_j be the columns of the constraints, r their rank, and

    M = sum_j a_j a_j^T / w_j,      w_j = |a_j| in the metric of M^-1.

These equations determine the weights w; since w_j = a_j^T M^-1 a_j / w_j, they sum to trace(M^-1 M) = r.

Theorem (proof: docs/bat.md). A token with w_i <= min(1/2, 1 - 1/E) is rejected by BAT, namely by z_i = -1 and
z_j = a_j^T M^-1 a_i / (w_j (1 - w_i)) for the others, of which |z_j| <= w_i / (1 - w_i).

The sums are over the tokens with p_j > 0 that may move. A token outside them keeps q_j = p_j, which is a restriction,
so a rejection needs nothing from it. A token outside that does move needs more: `Metric.complete`.

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

from oversmoothing.bat.large.rounding import gamma, norm_bound

STEPS = 5  # of the iteration, from the Euclidean norms
DEPENDENT = 1e-12  # share of a column below which what others do not explain of it is rounding
PRECISE = 1e-10  # skew above which a metric is factorised once more
SHARP = 1e-3  # sum of blurs above which it is factorised from the columns, by QR, which takes much longer

Factorise = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Metric:
    """The metric of M^-1, M = A diag(1/w) A^T = F F^T, for the columns A (m, k) of some tokens.

    F describes the constraints `rows`. On these tokens, and only on them, the others follow from these, each entry up
    to the share `DEPENDENT` of its column's norm. `blur` bounds the errors that a token adds to a computed B z, per
    unit of z_j: those of B itself, measured as F^-1 (A - F B) with a bound of this measurement's errors, and of the
    product.
    """

    rows: np.ndarray  # int (r,)
    m: int  # number of all constraints
    factor: np.ndarray  # F, lower triangular, (r, r)
    whitened: np.ndarray  # B = F^-1 A, up to rounding, (r, k)
    weights: np.ndarray  # w (k,), and
    lengths: np.ndarray  # l (k,), the norms of B's columns; equal once the iteration has converged
    blur: np.ndarray  # (k,)
    skew: float  # bound of the spectral norm of F^-1 A diag(1/w) B^T - I
    spread: float  # bound of the norm of F^-1, by which whitening enlarges errors of what is whitened
    solving: float  # bound of the error of whitening itself, relative to the result

    @property
    def complete(self) -> bool:
        """Whether F describes all constraints, so that what is proved with it holds for tokens outside too."""
        return len(self.rows) == self.m

    @property
    def shares(self) -> np.ndarray:
        """S = l^2 / w, at most 1: the share of M that is a token's own in its own direction (k,)."""
        return np.minimum(self.lengths**2 / self.weights, 1.0)

    @property
    def ratio(self) -> float:
        """Largest l_j / w_j, 1 once the iteration has converged."""
        return float((self.lengths / self.weights).max())

    def residuals(self, z: np.ndarray, pull: np.ndarray | float = 0.0) -> np.ndarray:
        """Bound of |F^-1 A z + pull| for columns z (k, n), with the errors of A z (n,)."""
        return np.linalg.norm(self.whitened @ z + pull, axis=0) + self.blur @ abs(z)

    def repair(self, residuals: np.ndarray, shares: np.ndarray | float) -> np.ndarray:
        """Return the size of a correction of some z, of these tokens only, that satisfies the constraints exactly.

        If F^-1 A z = c, then z_j - b_j^T y / w_j with G y = c does, where G = F^-1 A diag(1/w) B^T, less its term of
        token i if z_i has to stay. The smallest singular value of G is at least 1 - s_i - skew, so no entry moves by
        more than max(l / w) |c| / (1 - s_i - skew). The factor 2 covers the rounding of this bound itself.

        If z moves these tokens only, the constraints that F does not describe follow. If it moves others, they do not,
        and the metric has to be `complete`. `residuals` (n,) are bounds of |c|, and `shares` s_i of the tokens that
        stay, or 0; the result (n,) is infinite where nothing is proved.
        """
        room = np.maximum(1 - shares - self.skew, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            moves = 2 * self.ratio * residuals / room
        return np.where(np.isfinite(moves), moves, np.inf)

    def whiten(self, vectors: np.ndarray) -> np.ndarray:
        """Return F^-1 c of vectors c, (m, n) -> (r, n)."""
        return solve_triangular(self.factor, vectors[self.rows], lower=True, check_finite=False)

    def lift(self, y: np.ndarray) -> np.ndarray:
        """Return combinations of all m constraints, (m, n), whose products with A are those of y, (r, n), with B."""
        lifted = np.zeros((self.m, y.shape[1]))
        lifted[self.rows] = solve_triangular(self.factor, y, lower=True, trans=1, check_finite=False)
        return lifted


def lewis_metric(
    columns: np.ndarray, steps: int = STEPS, start: np.ndarray | None = None, error: float = 0.0
) -> Metric:
    """Return the metric of the Lewis weights.

    M is factorised by Cholesky, or, where masses span so many orders of magnitude that this loses too many digits, from
    the columns themselves by QR with pivoting; a `LinAlgError` if both fail. Each entry of the columns A (m, k) is
    rounded once, and none is zero; besides, a column may have an `error` relative to its norm. The iteration begins
    with the weights `start` (k,).
    """
    if start is None:
        lengths = np.linalg.norm(columns, axis=0)
        start = lengths * (len(columns) / lengths.sum())
    try:
        metric = _polish(columns, error, *_iterate(columns, start, steps, _by_cholesky))
        if metric.blur.sum() <= SHARP:
            return metric
    except LinAlgError:
        pass
    return _polish(columns, error, *_iterate(columns, start, steps, _by_qr))


def gram(columns: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return A diag(scale) A^T, of which only the lower triangle is filled in."""
    return dsyrk(1.0, np.asfortranarray(columns * np.sqrt(scale)), lower=1)


def _iterate(columns: np.ndarray, weights: np.ndarray, steps: int, factorise: Factorise) -> tuple:
    for _ in range(steps):
        rows, factor = factorise(columns, weights)
        whitened = solve_triangular(factor, _take(columns, rows), lower=True, check_finite=False)
        previous, weights = weights, _norms(whitened)
    return rows, factor, whitened, previous


def _polish(
    columns: np.ndarray, error: float, rows: np.ndarray, factor: np.ndarray, whitened: np.ndarray, weights: np.ndarray
) -> Metric:
    """Bound the errors of a metric; if its factor has lost many digits, factorise once more what it left."""
    skew = _skew(whitened, weights)
    if skew > PRECISE:
        second = cholesky(gram(whitened, 1 / weights), lower=True, overwrite_a=True, check_finite=False)
        whitened = solve_triangular(second, whitened, lower=True, check_finite=False)
        factor = np.tril(factor) @ second
        skew = _skew(whitened, weights)
    r, k = whitened.shape
    lengths = _norms(whitened)
    missing = _take(columns, rows) - dtrmm(1.0, factor, whitened, lower=1)
    missing = solve_triangular(factor, missing, lower=True, overwrite_b=True, check_finite=False)
    inverse = solve_triangular(factor, np.eye(r), lower=True, check_finite=False)
    with np.errstate(over="ignore", invalid="ignore"):
        condition, spread = norm_bound(abs(inverse) @ abs(np.tril(factor))), norm_bound(inverse)
        blur = _norms(missing) + (condition * gamma(2 * r + 4) + gamma(k + 8)) * lengths
        blur += spread * error * np.linalg.norm(columns, axis=0)
    if not np.isfinite(blur).all():
        raise LinAlgError("the factor has lost all digits")
    skew += float(blur @ (lengths / weights))  # A in place of F B; and, with room, the rounding of the skew
    return Metric(rows, len(columns), factor, whitened, weights, lengths, blur, skew, spread, condition * gamma(r + 2))


def _norms(columns: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->j", columns, columns))


def _skew(whitened: np.ndarray, weights: np.ndarray) -> float:
    unit = gram(whitened, 1 / weights)
    unit[np.diag_indices_from(unit)] -= 1
    return float(np.sqrt(2 * (np.tril(unit, -1) ** 2).sum() + (unit.diagonal() ** 2).sum()))


def _take(columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return rows in order, without a copy where they are all of them."""
    return columns if np.array_equal(rows, np.arange(len(columns))) else columns[rows]


def _by_cholesky(columns: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    factor = cholesky(gram(columns, 1 / weights), lower=True, overwrite_a=True, check_finite=False)
    return np.arange(len(columns)), factor


def _by_qr(columns: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factorise from the columns: with rows sorted by size, small ones keep their digits (Cox and Higham 1998)."""
    scaled = (columns / np.sqrt(weights)).T
    order = np.argsort(-abs(scaled).max(axis=1), kind="stable")
    triangle, rows = qr(scaled[order], mode="r", pivoting=True, check_finite=False)
    size = abs(triangle.diagonal())
    rank = int((size > DEPENDENT * size[0]).sum())
    if not _implied(columns, rows[:rank], rows[rank:]):
        rank = int((size > 0).sum())
    return rows[:rank], np.asfortranarray(triangle[:rank, :rank].T)


def _implied(columns: np.ndarray, kept: np.ndarray, dropped: np.ndarray) -> bool:
    """Return whether on every token some constraints are combinations of others, up to rounding."""
    unit = columns / np.linalg.norm(columns, axis=0)
    combination = np.linalg.lstsq(unit[kept].T, unit[dropped].T, rcond=None)[0]
    return bool((abs(unit[dropped] - combination.T @ unit[kept]) <= DEPENDENT).all())
