"""What a model's head, its hidden states and the gradient of its loss are, whatever model it is."""

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from torch import Tensor

from oversmoothing.measures.logit_gradient import BATCH, LogitGradient
from oversmoothing.numerics.geometry import Directions, singular_entropy
from oversmoothing.numerics.singular_values import effective_rank

OUTLYING = 3.0  # standard deviations above the mean


class Sums:
    """Accumulates the loss of a model, its hidden states and its gradients; only sums are kept.

    `passed`, shape (v, d), is what the gradient of the logits passes through: the head, or what stands in its place.
    With `dimensions`, outlier dimensions of each block are measured.
    """

    def __init__(self, passed: Tensor, dimensions: bool = False) -> None:
        self.nats, self.count = 0.0, 0
        self.gradient, self.entered = LogitGradient(passed), Directions()
        self._layers: dict[int, tuple[Directions, Dimensions | None]] = defaultdict(
            lambda: (Directions(), Dimensions() if dimensions else None)
        )

    def leave(self, layer: int, states: np.ndarray) -> None:
        """Add what leaves a block, counted from 1, shape (n, d)."""
        directions, dimensions = self._layers[layer]
        directions.add(states)
        if dimensions:
            dimensions.add(states)

    def rows(self, sigma: np.ndarray) -> Iterator[dict[str, Any]]:
        """Yield the measures of a model whose head has the singular values `sigma`, a row each.

        They are ``loss`` (nats); ``singular_entropy`` (nats) and ``effective_rank`` of the head; ``anisotropy``,
        ``outlier_dimensions`` and ``largest_dimension`` (its share) of each block's output; ``head_input_anisotropy``;
        ``gradient_share``, ``gradient_cosine`` and ``gradient_rank`` (see `LogitGradient`).
        """
        yield row("loss", self.nats / self.count, self.count)
        yield row("singular_entropy", singular_entropy(sigma), len(sigma))
        yield row("effective_rank", effective_rank(sigma), len(sigma))
        for layer, (directions, dimensions) in self._layers.items():
            yield row("anisotropy", directions.anisotropy(), directions.count, layer=layer)
            if dimensions:
                yield row("outlier_dimensions", dimensions.outliers(), dimensions.count, layer=layer)
                yield row("largest_dimension", dimensions.largest(), dimensions.count, layer=layer)
        yield row("head_input_anisotropy", self.entered.anisotropy(), self.entered.count)
        yield row("gradient_share", self.gradient.share(), self.gradient.count)
        yield row("gradient_cosine", self.gradient.cosine(), self.gradient.count)
        yield row("gradient_rank", self.gradient.rank(), min(self.gradient.count, BATCH))


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


def vectors(states: Tensor) -> np.ndarray:
    """Return hidden states of texts, (texts, positions, d), as one array (n, d)."""
    return states.float().flatten(0, 1).cpu().numpy()


def row(name: str, value: float, n: int, layer: int | None = None, truth: str | None = None) -> dict[str, Any]:
    """Return a measure as a row; `layer` and `truth` are None for measures without one."""
    return {"measure": name, "layer": layer, "truth": truth, "value": float(value), "n": n}
