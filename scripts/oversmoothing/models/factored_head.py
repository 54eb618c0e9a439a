"""A head W = A B that was trained alone, with or without a LayerNorm between its factors; read without PyTorch."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from oversmoothing.jobs import UserError
from oversmoothing.numerics.layer_norm import behind_norm
from oversmoothing.store.tensors import open_tensors

EPSILON = 1e-5  # PyTorch's, added to the variance


def is_factored(path: str | Path) -> bool:
    """Whether a file holds the factors of a head."""
    with open_tensors(path) as (file, _):
        return {"A", "B"} <= set(file.keys())


def read_factors(path: str | Path) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Read A (v, r), B (r, d) and the gain (r,) of a LayerNorm between them, or None; all float32."""
    with open_tensors(path) as (file, _):
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    if not {"A", "B"} <= set(tensors):
        raise UserError(f"{path}: no factors A and B of a head in it; delete it and run again")
    return tensors["A"], tensors["B"], tensors.get("norm")


def read_factored(path: str | Path) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray] | None]:
    """Read a head, float32 (v, k), and the map in front of it from the inputs of the trained head (n, d) to (n, k).

    The head is W = A B, and the map None; or, with a LayerNorm, A times its gain, restricted to the norm's outputs.
    """
    a, b, gain = read_factors(path)
    if gain is None:
        return a @ b, None
    return behind_norm(a, gain).astype(np.float32), lambda post: _standardised(post @ b.T)


def _standardised(states: np.ndarray) -> np.ndarray:
    """Scale each state to mean 0 and variance 1, as a LayerNorm does before its gain."""
    centred = states - states.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
