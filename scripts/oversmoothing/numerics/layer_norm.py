"""What a LayerNorm leaves of the head behind it."""

import numpy as np


def behind_norm(weights: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Restrict a head to the outputs of the LayerNorm in front of it: W diag(gain) (I - 11^T / r).

    A LayerNorm without bias outputs h = gain * x with sum(x) = 0 and norm(x) = sqrt(r), so W h = P x for the returned
    matrix P, whose rank is at most r - 1.

    Parameters
    ----------
    weights : array, shape (v, r)
    gain : array, shape (r,)
        The LayerNorm's weight.

    Returns
    -------
    float64 array, shape (v, r)

    Raises
    ------
    ValueError
        If the length of `gain` is not the number of columns of `weights`.
    """
    weights, gain = np.asarray(weights, np.float64), np.asarray(gain, np.float64)
    if gain.shape != weights.shape[1:]:
        raise ValueError(f"gain of shape {gain.shape}, but weights of shape {weights.shape}")
    scaled = weights * gain
    return scaled - scaled.mean(axis=1, keepdims=True)
