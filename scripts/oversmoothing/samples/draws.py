"""The uniform random numbers behind every sample, and the choice of a token by one of them."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


def uniforms(seed: int, windows: Sequence[int], length: int) -> np.ndarray:
    """Return the random number of byte j of each window: a function of (seed, window, j) only.

    Every model and every decoding is thus sampled with common random numbers, independent of batch and device. The
    generator is Philox4x64-10 with the key (seed, window) and counter j.

    Parameters
    ----------
    seed : int
        0 to 2**64 - 1.
    windows : sequence of int
        Identities of the windows, at least 0.
    length : int
        Bytes per window; a shorter length gives a prefix of a longer one.

    Returns
    -------
    array, shape (windows, length)
        float64, multiples of 2**-53 in [0, 1).

    References
    ----------
    J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    """
    drawn = np.empty((len(windows), length))
    for row, window in zip(drawn, windows, strict=True):
        bits = np.random.Philox(key=np.array([seed, window], np.uint64)).random_raw(length)
        row[:] = (bits >> np.uint64(11)) * 2.0**-53
    return drawn


def choose(p: Tensor, u: Tensor) -> Tensor:
    """Choose one token from each distribution: the first at which the cumulative mass exceeds u times the total.

    The distributions `p` are (n, v) and need not be normalised; `u` is float64 (n,) in [0, 1); the result is int64
    (n,). Tokens are in order of their ids and the mass is summed in float64. A token without mass is never chosen,
    whatever u and the rounding of the sum.
    """
    # Masked, because a GPU sums in parallel: by rounding, the sum may then rise at a token without mass.
    mass = p.double().cumsum(dim=1) * (p > 0)
    return (mass > u[:, None] * mass.amax(dim=1, keepdim=True)).byte().argmax(dim=1)


def draws_for(seed: int, windows: Sequence[int], length: int, device: torch.device) -> Tensor:
    """Return `uniforms` as a tensor (length, windows) on a device: one row per step of a generation."""
    return torch.from_numpy(np.ascontiguousarray(uniforms(seed, windows, length).T)).to(device)
