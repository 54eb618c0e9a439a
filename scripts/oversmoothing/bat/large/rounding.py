"""Bounds of the rounding errors of float64, from which the proofs of `position` keep their distance.

References
----------
N. J. Higham, "Accuracy and stability of numerical algorithms", 2nd edition, SIAM 2002: lemma 3.1 and section 3.1 (sums
and products, in any order), theorem 8.5 (triangular systems).
"""

import numpy as np

UNIT = 2.0**-53
BLOCK = 4096  # rows of the basis that are handled at once, which bounds memory and the error of a sum


def gamma(n: int) -> float:
    """Bound n u / (1 - n u) of the error of a product of n terms, relative to the sum of its terms' sizes."""
    return n * UNIT / (1 - n * UNIT)


def in_blocks(n: int) -> float:
    """Bound for a sum over n tokens of products of two, summed block by block."""
    return gamma(min(n, BLOCK) + n // BLOCK + 2)


def norm_bound(matrix: np.ndarray) -> float:
    """Bound of the spectral norm: the root of the largest row sum times the largest column sum of sizes."""
    sizes = abs(matrix)
    return float(np.sqrt(sizes.sum(axis=0).max() * sizes.sum(axis=1).max()))
