"""A head W = A B that was trained alone, with or without a LayerNorm between its factors; read without PyTorch."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from oversmoothing.numerics.layer_norm import behind_norm
from oversmoothing.store.tensors import open_tensors

EPSILON = 1e-5  # PyTorch's, added to the variance


def read_factors(path: str | Path) -> tuple[np.ndarray, np.ndarray, np.ndarray | None] | None:
    """Read A (v, r), B (r, d) and the gain (r,) of a LayerNorm between them, if there is one; all float32.

    None if the file holds no factors of a head.
    """
    with open_tensors(path) as (file, _):
        tensors = {name: file.get_tensor(name) for name in {"A", "B", "norm"} & set(file.keys())}
    return (tensors["A"], tensors["B"], tensors.get("norm")) if "A" in tensors else None


def read_factored(path: str | Path) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray] | None] | None:
    """Read a head, float32 (v, k), and the map in front of it from the inputs of the trained head (n, d) to (n, k).

    The head is W = A B, and the map None; or, with a LayerNorm, A times its gain, restricted to the norm's outputs.
    None as by `read_factors`.
    """
    if (factors := read_factors(path)) is None:
        return None
    a, b, gain = factors
    if gain is None:
        return a @ b, None

    def standardised(post: np.ndarray) -> np.ndarray:
        centred = post @ b.T
        centred = centred - centred.mean(axis=1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)

    return behind_norm(a, gain).astype(np.float32), standardised
