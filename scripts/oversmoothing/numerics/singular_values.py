"""Singular values of a matrix, its effective rank, and counts of singular values above a threshold (thesis 2.4).

Separate from `spectra`, so that a change here does not trigger sampling and scoring again.
"""

import numpy as np


def singular_values(matrix: np.ndarray) -> np.ndarray:
    """Return the singular values of a finite matrix (n, d), or those given (k,), float64, in decreasing order."""
    matrix = np.asarray(matrix, np.float64)
    if not matrix.size or matrix.ndim not in (1, 2):
        raise ValueError(f"an array of shape {matrix.shape} has no singular values")
    if not np.isfinite(matrix).all():
        raise ValueError("NaN or infinite values")
    if matrix.ndim == 2:
        return np.linalg.svd(matrix, compute_uv=False)
    if matrix.min() < 0:
        raise ValueError(f"a singular value of {matrix.min()} is negative")
    return np.sort(matrix)[::-1]


def effective_rank(matrix: np.ndarray) -> float:
    """Return exp(H(sigma / sum(sigma))), H in nats, over the singular values sigma (thesis 2.4, Table 7.3).

    The matrix is not centred: a common offset of all rows counts as a direction.

    Parameters
    ----------
    matrix : array, shape (n, d) or (k,)
        A matrix, or the singular values of one.

    Returns
    -------
    float
        From 1 (all rows are multiples of one row) to min(n, d) (all singular values are equal); 0 for a zero matrix.

    Raises
    ------
    ValueError
        As in `singular_values`.

    References
    ----------
    O. Roy and M. Vetterli, "The effective rank: a measure of effective dimensionality", EUSIPCO 2007, equation 4.
    """
    sigma = singular_values(matrix)
    if not sigma[0]:
        return 0.0
    shares = sigma[sigma > 0] / sigma[0]  # divided by the largest first, so that the sum cannot overflow
    shares = shares / shares.sum()
    shares = shares[shares > 0]
    return float(np.exp(-(shares @ np.log(shares))))


def count_above(matrix: np.ndarray, share: float) -> int:
    """Return how many singular values lie above a share, in [0, 1), of the largest: thesis 2.4's other rank."""
    if not 0 <= share < 1:
        raise ValueError(f"a share of {share} lies outside [0, 1)")
    sigma = singular_values(matrix)
    return int((sigma > share * sigma[0]).sum())
