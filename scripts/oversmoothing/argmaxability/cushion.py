"""Proofs that rows lie in the hull of many others, of which no shares are exact but some are near.

Some n rows, the columns of a matrix A (m, n), are more than the m equations, and shares s > 0 of them miss a row t by
rho = t - A s. Which shares mend that need not be known. Take float matrices P (m, m) and X (n, m), zero but for the
rows of the cushion, with alpha a bound of the norm of I - P A X. If alpha < 1, then P A X is regular, and so P is. So z
= X (P A X)^-1 P rho solves A z = rho, and no |z_j| is above |X_j| |P rho| / (1 - alpha). Where s_j is above that, s + z
are positive shares that combine to t exactly. X is W A^T P^T for positive weights W of the cushion, and P makes P A W
A^T P^T the identity, up to rounding.

One cushion serves all classes outside it, so a class costs two products, not a square system of hundreds of equations.
"""

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

EPS = np.finfo(np.float64).eps  # twice the unit roundoff, as in `proofs`
MENDINGS = 2  # of shares, before what they still miss is bounded
ROOM = 1.01  # for the rounding of the bounds themselves


class Cushion:
    """Some rows (n, m) of `proofs.generators`, with positive weights (n,), that mend combinations of more rows."""

    def __init__(self, rows: np.ndarray, weights: np.ndarray) -> None:
        """Whiten the rows; a `LinAlgError` says that they have too few dimensions."""
        scale = np.sqrt(weights @ rows**2)
        if not (scale > 0).all():
            raise LinAlgError("a column is zero")
        whitening = np.diag(1 / scale)
        for _ in range(2):  # the second removes the rounding of the first
            white = rows @ whitening.T
            factor = cholesky((white.T * weights) @ white, lower=True)
            whitening = solve_triangular(factor, whitening, lower=True)
        mending = (rows @ whitening.T) * weights[:, None]
        product = rows.T @ mending
        size = abs(whitening)
        away = abs(np.eye(len(whitening)) - whitening @ product)
        rounding = size @ (abs(rows).T @ abs(mending) + abs(product)) + np.eye(len(whitening))
        away += (sum(rows.shape) + 8) * EPS * rounding
        self._alpha = ROOM * float(np.linalg.norm(away))
        self._whitening, self._size, self._mending = whitening, size, mending
        self._lengths = ROOM * np.linalg.norm(mending, axis=1)
        self.longest = float((self._lengths / weights).max())  # of the whitened rows

    def proven(self, rows: np.ndarray, targets: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which targets (c, m) are certainly combinations of rows (n, m), of which the first are the cushion's.

        The shares (c, n) from which the proof starts are returned mended, for they are near exact ones.
        """
        gamma, own = (sum(rows.shape) + 8) * EPS, len(self._lengths)
        for _ in range(MENDINGS):
            shares = shares.copy()
            shares[:, :own] += (targets - shares @ rows) @ self._whitening.T @ self._mending.T
        missing = targets - shares @ rows
        noise = gamma * (abs(targets) + abs(shares) @ abs(rows) + abs(missing))
        bound = np.linalg.norm(abs(missing @ self._whitening.T) + noise @ self._size.T, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = ROOM * bound / (1 - self._alpha)
            proven = (shares[:, :own] > bound[:, None] * self._lengths).all(axis=1) & (shares >= 0).all(axis=1)
        return proven & (self._alpha < 1), shares
