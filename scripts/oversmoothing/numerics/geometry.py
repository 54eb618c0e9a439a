"""Degeneration of heads and hidden states: singular entropy and anisotropy (Godey et al. 2024)."""

import math

import numpy as np

from oversmoothing.numerics.singular_values import effective_rank, singular_values


def singular_entropy(matrix: np.ndarray) -> float:
    """Return KL(sigma / sum(sigma) || uniform) = ln d - H over the d singular values sigma.

    Parameters
    ----------
    matrix : array, shape (n, m) or (d,)
        A head, d = min(n, m); or singular values.

    Returns
    -------
    float
        Nats, from 0 (all singular values are equal) to ln d (only one is not zero).

    Raises
    ------
    ValueError
        If all singular values are zero, or as in `singular_values`.

    References
    ----------
    N. Godey, E. de la Clergerie and B. Sagot, "Why do small language models underperform?", 2024, section 4.2.
    """
    sigma = singular_values(matrix)
    if not sigma[0]:
        raise ValueError("a matrix of zeros has no singular entropy")
    return max(math.log(len(sigma)) - math.log(effective_rank(sigma)), 0.0)  # rounding may take it below 0


class Directions:
    """Accumulates the directions of representations, to compute their anisotropy without storing them."""

    def __init__(self) -> None:
        self.count = 0
        self._sum: np.ndarray | float = 0.0

    def add(self, states: np.ndarray) -> None:
        """Add finite representations, shape (n, d); zero vectors have no direction and are ignored."""
        states = np.asarray(states, np.float64)
        if not np.isfinite(states).all():
            raise ValueError("a hidden state is NaN or infinite")
        lengths = np.linalg.norm(states, axis=1, keepdims=True)
        some = lengths[:, 0] > 0
        self._sum = self._sum + (states[some] / lengths[some]).sum(axis=0)
        self.count += int(some.sum())

    def anisotropy(self) -> float:
        """Return the mean cosine over all pairs of representations (Godey et al. 2024, section 4.1).

        The squared length of the sum of n unit vectors u contains n ones and each pair twice, so the mean over pairs is
        (|sum u|^2 - n) / (n^2 - n). It is NaN if fewer than two have a direction: a LayerNorm maps a single number to
        zero.
        """
        if self.count < 2:
            return math.nan
        return float((np.sum(np.square(self._sum)) - self.count) / (self.count**2 - self.count))
