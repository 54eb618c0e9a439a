"""What a head fixes at one position: rows u_j of its basis, less the direction that the position leaves free."""

from dataclasses import dataclass

import numpy as np

from oversmoothing.bat.large.rounding import gamma


@dataclass(frozen=True)
class Constraints:
    """The constraints of one position."""

    columns: np.ndarray  # orthonormal basis, (v, m)
    norms: np.ndarray  # of its rows, (v,)
    normal: np.ndarray  # unit vector (m,): the direction of the basis that this position leaves free; or zeros
    twins: np.ndarray | None = None  # for each token the first whose row of the head is equal, (v,); None if no two are

    @property
    def m(self) -> int:
        """Number of constraints."""
        return self.columns.shape[1] - bool(self.normal.any())

    @property
    def error(self) -> float:
        """Bound of the error of a row u_j, or of a raised combination, relative to its norm.

        In a reflection the product with the mirror, its square and the product of both take 4 m + 8 roundings, each of
        a vector of at most the norm; the mirror's own entries and the difference take 7 more.
        """
        return gamma(4 * self.columns.shape[1] + 20) if self.normal.any() else 0.0

    def rows(self, tokens: np.ndarray) -> np.ndarray:
        """Return rows u_j of some tokens, (k, m)."""
        return self.reflect(self.columns[tokens])[:, : self.m]

    def raise_(self, y: np.ndarray) -> np.ndarray:
        """Return combinations y (m, n) of the constraints as combinations of the basis's columns."""
        return self.reflect(np.pad(y, ((0, self.columns.shape[1] - len(y)), (0, 0))).T).T

    def reflect(self, rows: np.ndarray) -> np.ndarray:
        """Return the Householder reflection that makes the normal a multiple of the last unit vector.

        It is its own inverse.
        """
        if not self.normal.any():
            return rows
        mirror = self.normal.copy()
        mirror[-1] += 1.0 if mirror[-1] >= 0 else -1.0
        return rows - np.outer(rows @ mirror, mirror * (2 / (mirror @ mirror)))
