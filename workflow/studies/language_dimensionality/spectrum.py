"""Singular values of an n-gram matrix, and its W-error: what a head of d dimensions must lose of it."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array, vstack
from scipy.sparse.linalg import LinearOperator, eigsh

EXACT = 4096  # tokens up to which all singular values are found: the Gram matrix takes 134 MB then


class Spectrum(NamedTuple):
    """Singular values of a matrix W."""

    values: np.ndarray  # float64, the largest ones in decreasing order
    rest: float  # sum of the squares of the others
    complete: bool  # whether there are no others


def spectrum(blocks: Iterable[csr_array], v: int, largest: int, exact: int = EXACT) -> Spectrum:
    """Return the singular values of a matrix W of v columns given in blocks of rows.

    Up to v = `exact` all are found, from the Gram matrix W^T W, accumulated over the blocks; above, only the `largest`
    ones, at most v - 1, by Lanczos iterations on W, whose non-zeros are then all in memory. Values below the rounding
    error of W^T W are set to zero.
    """
    if v <= exact:
        gram = np.zeros((v, v))
        for block in blocks:
            gram += (block.T @ block).toarray()
        return Spectrum(_roots(eigvalsh(gram, overwrite_a=True, check_finite=False)), 0.0, True)
    matrix = vstack(list(blocks), format="csr")
    gram_map = LinearOperator((v, v), matvec=lambda x: matrix.T @ (matrix @ x), dtype=np.float64)
    # W is non-negative, so a start of ones is never orthogonal to the first singular vector.
    values = _roots(eigsh(gram_map, min(largest, v - 1), v0=np.ones(v), return_eigenvectors=False))
    rest = float(matrix.data @ matrix.data - values @ values)
    return Spectrum(values, max(rest, 0.0), False)


def w_error(singular: Spectrum) -> np.ndarray:
    """Return ||sigma_{d+1:}||_2 / ||W||_F for d = 0, 1, ..., k: the error of the best approximation to W of rank d.

    It is 1 at d = 0 and never increases; the last is 0 if the spectrum is complete.

    References
    ----------
    N. Godey, E. de la Clergerie, B. Sagot, "Why do small language models underperform?", 2024; C. Eckart and G. Young,
    "The approximation of one matrix by another of lower rank", Psychometrika 1936.
    """
    squares = np.append(singular.values**2, singular.rest)
    left = np.cumsum(squares[::-1])[::-1]  # summed from the smallest, to avoid cancellation
    return np.sqrt(left / left[0])


def _roots(squares: np.ndarray) -> np.ndarray:
    squares = np.sort(squares)[::-1]
    noise = len(squares) * np.finfo(np.float64).eps * squares[0]
    return np.sqrt(np.where(squares > noise, squares, 0.0))
