"""The head of a model, of any kind, as the matrix of an exponential family.

All in float64: what is of a lower rank stays so, where rounding to float32 would add directions that no state reaches.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oversmoothing.forced.head import Head, prepare
from oversmoothing.jobs import UserError
from oversmoothing.layer_norm import behind_norm
from oversmoothing.spectra import read_bias, read_gain, read_head, truncate
from oversmoothing.store.tensors import open_tensors

RETRAINED = ("retrained", "normed")


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


def read_model_head(path: str | Path, kind: str, rank: int | None = None) -> ModelHead:
    """Head of a model.

    Parameters
    ----------
    path : path
        Weights of the model or of the model whose head was truncated, a head alone, or a retrained head.
    kind : str
        As in `plan.models.Model`. Of kind "svd" the head is truncated; "retrained" and "normed" ones are heads alone.
    rank : int or None
        Rank of a truncated head.
    """
    if kind in RETRAINED:
        return _retrained(path)
    weights = read_head(path)
    if kind == "svd":
        weights = truncate(weights, rank or 1)
    return ModelHead(weights, read_gain(path), read_bias(path))


def _retrained(path: str | Path) -> ModelHead:
    """W = A B, or A behind the LayerNorm between the two, of a head trained by `oversmoothing.imposed_rank.heads`."""
    with open_tensors(path) as (file, _):
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    if not {"A", "B"} <= set(tensors):
        raise UserError(f"{path}: no retrained head in it; delete it and run again")
    if "norm" in tensors:
        return ModelHead(tensors["A"], tensors["norm"])
    return ModelHead(tensors["A"].astype(np.float64) @ tensors["B"].astype(np.float64))
