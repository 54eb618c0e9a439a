"""The head of a model, of any kind, as the matrix of an exponential family.

All in float64: what is of a lower rank stays so, where rounding to float32 would add directions that no state reaches.
"""

from pathlib import Path

import numpy as np

from oversmoothing.forced.head import Head, prepare
from oversmoothing.jobs import UserError
from oversmoothing.spectra import behind_norm, read_bias, read_gain, read_head, truncate
from oversmoothing.store.tensors import open_tensors

RETRAINED = ("retrained", "normed")


def read_model_head(path: str | Path, kind: str, rank: int | None) -> Head:
    """Head of a model, prepared for projections.

    Parameters
    ----------
    path : path
        Weights of the model or of the model whose head was truncated, a head alone, or a retrained head.
    kind : str
        As in `plan.models.Model`. Of kind "svd" the head is truncated; "retrained" and "normed" ones are heads alone.
    rank : int or None
        Rank of a truncated head.

    Returns
    -------
    Head
        Where a LayerNorm stands before the head, restricted to the dimensions that it leaves free, one fewer than it
        has; so what is forced is a lower bound of what norm and head force. A head alone is free in all of its own.
    """
    if kind in RETRAINED:
        return prepare(_retrained(path))
    weights, gain = read_head(path), read_gain(path)
    if kind == "svd":
        weights = truncate(weights, rank or 1)
    return prepare(weights if gain is None else behind_norm(weights, gain), read_bias(path))


def _retrained(path: str | Path) -> np.ndarray:
    """W = A B, or A behind the LayerNorm between the two, of a head trained by `oversmoothing.imposed_rank.heads`."""
    with open_tensors(path) as (file, _):
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    if not {"A", "B"} <= set(tensors):
        raise UserError(f"{path}: no retrained head in it; delete it and run again")
    if "norm" in tensors:
        return behind_norm(tensors["A"], tensors["norm"])
    return tensors["A"].astype(np.float64) @ tensors["B"].astype(np.float64)
