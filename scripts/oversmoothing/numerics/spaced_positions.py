"""Positions of a window at which what takes long is computed."""

import numpy as np


def positions_of(scored: int, per_window: int | None) -> np.ndarray:
    """Return positions of a window of `scored` bytes or tokens: all for None, or as many evenly spaced ones."""
    if per_window is None or per_window >= scored:
        return np.arange(scored)
    return ((np.arange(per_window) + 0.5) * scored / per_window).astype(int)
