"""What a LayerNorm leaves of the head behind it."""

import numpy as np


def behind_norm(weights: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Restrict a head (v, r) to the outputs of the LayerNorm in front of it: W diag(gain) (I - 11^T / r), float64.

    A LayerNorm without bias outputs h = gain * x with sum(x) = 0 and norm(x) = sqrt(r), so W h = P x for the returned
    matrix P, whose rank is at most r - 1. `gain` is its weight (r,).
    """
    weights, gain = np.asarray(weights, np.float64), np.asarray(gain, np.float64)
    if gain.shape != weights.shape[1:]:
        raise ValueError(f"gain of shape {gain.shape}, but weights of shape {weights.shape}")
    scaled = weights * gain
    return scaled - scaled.mean(axis=1, keepdims=True)
