"""The head of a model, of any kind, as the matrix of an exponential family.

All in float64: what is of a lower rank stays so, where rounding to float32 would add directions that no state reaches.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oversmoothing.forced.head import Head, prepare
from oversmoothing.models.factored_head import is_factored, read_factors
from oversmoothing.models.spectra import read_bias, read_gain, read_head, truncate
from oversmoothing.numerics.layer_norm import behind_norm


@dataclass(frozen=True)
class ModelHead:
    """A head as a model has it.

    Attributes
    ----------
    weights : float array, shape (v, r)
    gain : float array, shape (r,), or None
        Of the LayerNorm directly before the head; None where there is none, or the head is alone.
    bias : float array, shape (v,), or None
    """

    weights: np.ndarray
    gain: np.ndarray | None = None
    bias: np.ndarray | None = None

    def prepared(self) -> Head:
        """The head in coordinates for projections.

        Behind a LayerNorm it is restricted to the dimensions that the norm leaves free, one fewer than it has. So what
        it forces is a lower bound of what norm and head force together.
        """
        weights = self.weights if self.gain is None else behind_norm(self.weights, self.gain)
        return prepare(weights, self.bias)


def read_model_head(path: str | Path, rank: int | None = None) -> ModelHead:
    """Head of a model.

    Parameters
    ----------
    path : path
        Weights of the model or of the model whose head was truncated, a head alone, or the factors of one.
    rank : int or None
        Rank to which the head is truncated.
    """
    if is_factored(path):
        a, b, gain = read_factors(path)
        return ModelHead(a.astype(np.float64) @ b.astype(np.float64)) if gain is None else ModelHead(a, gain)
    weights = read_head(path)
    return ModelHead(weights if rank is None else truncate(weights, rank), read_gain(path), read_bias(path))
