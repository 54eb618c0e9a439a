"""A retrained head, applied to what enters it without PyTorch."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from oversmoothing.jobs import UserError
from oversmoothing.spectra import behind_norm
from oversmoothing.store.seal import check

EPSILON = 1e-5  # PyTorch's, in the variance


def read_retrained(path: str | Path) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray] | None]:
    """Read a head that `oversmoothing.imposed_rank.heads` trained.

    Returns
    -------
    head : array, shape (v, k)
        float32. W = A B, with k = d; or, behind a LayerNorm, A times its gain and less what it takes away, with k = r.
    before : callable or None
        From float32 (n, d), what enters the trained head, to float32 (n, k), what enters this one; None where it is the
        same.

    Raises
    ------
    UserError
        If the file is missing, damaged or has no such head.
    """
    check(path)
    try:
        tensors = load_file(path)
        a, b = tensors["A"], tensors["B"]
    except (OSError, SafetensorError, KeyError) as error:
        raise UserError(f"{path}: no complete retrained head ({error}); delete it and run again") from error
    if "norm" not in tensors:
        return a @ b, None
    return behind_norm(a, tensors["norm"]).astype(np.float32), lambda post: _standardised(post @ b.T)


def _standardised(rows: np.ndarray) -> np.ndarray:
    """Bring rows to mean 0 and variance 1, as a LayerNorm does before its gain."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
