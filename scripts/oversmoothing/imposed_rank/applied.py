"""A retrained head, applied to its input without PyTorch."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from oversmoothing.jobs import UserError
from oversmoothing.layer_norm import behind_norm
from oversmoothing.store.tensors import open_tensors

EPSILON = 1e-5  # PyTorch's, added to the variance


def read_retrained(path: str | Path) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray] | None]:
    """Read a head trained by `oversmoothing.imposed_rank.heads`; return it and the map in front of it.

    The head is float32 (v, k). It is W = A B, with k = d and no map (None); or, with a LayerNorm, A times its gain,
    restricted to the LayerNorm's outputs, with k = r and the map from float32 (n, d), the input of the trained head, to
    (n, r).
    """
    with open_tensors(path) as (file, _):
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    if not {"A", "B"} <= set(tensors):
        raise UserError(f"{path}: no retrained head in it; delete it and run again")
    a, b = tensors["A"], tensors["B"]
    if "norm" not in tensors:
        return a @ b, None
    return behind_norm(a, tensors["norm"]).astype(np.float32), lambda post: _standardised(post @ b.T)


def _standardised(rows: np.ndarray) -> np.ndarray:
    """Scale rows to mean 0 and variance 1, as a LayerNorm does before its gain."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
