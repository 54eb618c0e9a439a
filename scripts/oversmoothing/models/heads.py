"""The head of a model, of any kind, as the matrix of an exponential family.

All in float64: what is of a lower rank stays so, where rounding to float32 would add directions that no state reaches.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oversmoothing.forced.head import Head, prepare
from oversmoothing.models.factored_head import read_factors
from oversmoothing.models.spectra import read_bias, read_gain, read_head, truncate
from oversmoothing.numerics.layer_norm import behind_norm


@dataclass(frozen=True)
class ModelHead:
    """A head as a model has it."""

    weights: np.ndarray  # (v, r)
    gain: np.ndarray | None = None  # (r,), of the LayerNorm directly before the head, if there is one and it is known
    bias: np.ndarray | None = None  # (v,)

    def prepared(self) -> Head:
        """Return the head in coordinates for projections, restricted to the dimensions that a LayerNorm leaves free.

        So what it forces is a lower bound of what norm and head force together.
        """
        weights = self.weights if self.gain is None else behind_norm(self.weights, self.gain)
        return prepare(weights, self.bias)


def read_model_head(path: str | Path, rank: int | None = None) -> ModelHead:
    """Return a model's head, truncated to a rank, if given, from weights, a head alone, or the factors of one."""
    if factors := read_factors(path):
        a, b, gain = factors
        return ModelHead(a.astype(np.float64) @ b.astype(np.float64)) if gain is None else ModelHead(a, gain)
    weights = read_head(path)
    return ModelHead(weights if rank is None else truncate(weights, rank), read_gain(path), read_bias(path))
