"""How degenerate a head and hidden states are: singular entropy, anisotropy (Godey et al. 2024), outlier dimensions."""

import math

import numpy as np

from oversmoothing.ranks.spectrum import effective_rank, singular_values

OUTLYING = 3.0  # standard deviations above the mean


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
        If all singular values are zero, or as `singular_values`.

    References
    ----------
    N. Godey, E. de la Clergerie and B. Sagot, "Why do small language models underperform? Studying language model
    saturation via the softmax bottleneck", 2024, section 4.2.
    """
    sigma = singular_values(matrix)
    if not sigma[0]:
        raise ValueError("a matrix of zeros has no singular entropy")
    return max(math.log(len(sigma)) - math.log(effective_rank(sigma)), 0.0)  # rounding may take it below 0


class Directions:
    """Adds up the directions of representations, so that their anisotropy is known without keeping them."""

    def __init__(self) -> None:
        self.count = 0
        self._sum: np.ndarray | float = 0.0

    def add(self, states: np.ndarray) -> None:
        """Add representations, shape (n, d); those that are zero have no direction and do not count.

        Raises
        ------
        ValueError
            If one of them is not finite.
        """
        states = np.asarray(states, np.float64)
        if not np.isfinite(states).all():
            raise ValueError("a hidden state is NaN or infinite")
        lengths = np.linalg.norm(states, axis=1, keepdims=True)
        some = lengths[:, 0] > 0
        self._sum = self._sum + (states[some] / lengths[some]).sum(axis=0)
        self.count += int(some.sum())

    def anisotropy(self) -> float:
        """Return the mean cosine of all pairs of representations (Godey et al. 2024, section 4.1).

        The squared length of the sum of n unit vectors u holds n ones and each pair twice, so that the mean over
        pairs is (|sum u|^2 - n) / (n^2 - n). It is NaN where fewer than two have a direction: what LayerNorm leaves
        of a single number is zero, so that at rank 1 nothing enters the head.

        Returns
        -------
        float
            From -1 / (n - 1) to 1 (all point the same way); 0 where directions are even.
        """
        if self.count < 2:
            return math.nan
        return float((np.sum(np.square(self._sum)) - self.count) / (self.count**2 - self.count))


class Dimensions:
    """Adds up what each dimension of representations carries, so that outlier dimensions are known without them."""

    def __init__(self) -> None:
        self.count = 0
        self._squares: np.ndarray | float = 0.0

    def add(self, states: np.ndarray) -> None:
        """Add representations, shape (n, d), all finite."""
        states = np.asarray(states, np.float64)
        self._squares = self._squares + np.square(states).sum(axis=0)
        self.count += len(states)

    def outliers(self) -> int:
        """Count the outlier dimensions: those whose root mean square lies far above that of the others.

        Far is `OUTLYING` standard deviations over dimensions above their mean, the measure by which Kovaleva et al.
        call weights of a LayerNorm outliers. Fewer than one dimension in ten can be one, and none of ten or fewer.

        References
        ----------
        O. Kovaleva et al., "BERT Busters: outlier dimensions that disrupt transformers", Findings of ACL 2021.
        """
        sizes = np.sqrt(np.atleast_1d(self._squares) / max(self.count, 1))
        return int((sizes > sizes.mean() + OUTLYING * sizes.std()).sum())

    def largest(self) -> float:
        """Return the share of the squared length that the largest dimension carries: from 1 / d to 1; NaN of zeros."""
        squares = np.atleast_1d(self._squares)
        return float(squares.max() / squares.sum()) if squares.sum() else math.nan
