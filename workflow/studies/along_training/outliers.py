"""Outlier dimensions of hidden states (Kovaleva et al. 2021)."""

import math

import numpy as np

OUTLYING = 3.0  # standard deviations above the mean


class Dimensions:
    """Accumulates the squares of each dimension of representations, to find outlier dimensions without storing them."""

    def __init__(self) -> None:
        self.count = 0
        self._squares: np.ndarray | float = 0.0

    def add(self, states: np.ndarray) -> None:
        """Add finite representations, shape (n, d)."""
        states = np.asarray(states, np.float64)
        self._squares = self._squares + np.square(states).sum(axis=0)
        self.count += len(states)

    def outliers(self) -> int:
        """Return the number of outlier dimensions: those with a root mean square far above that of the others.

        Far means `OUTLYING` standard deviations over dimensions above their mean, the criterion of Kovaleva et al. for
        outlier weights of a LayerNorm. Fewer than one dimension in ten can be an outlier, and none of ten or fewer.

        References
        ----------
        O. Kovaleva et al., "BERT Busters: outlier dimensions that disrupt transformers", Findings of ACL 2021.
        """
        sizes = np.sqrt(np.atleast_1d(self._squares) / max(self.count, 1))
        return int((sizes > sizes.mean() + OUTLYING * sizes.std()).sum())

    def largest(self) -> float:
        """Return the largest dimension's share of the squared length: from 1 / d to 1; NaN if all are zero."""
        squares = np.atleast_1d(self._squares)
        return float(squares.max() / squares.sum()) if squares.sum() else math.nan
