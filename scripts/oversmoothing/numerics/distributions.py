"""Rows that have to be distributions, checked where they enter a library."""

import numpy as np

SUM_TOLERANCE = 1e-3  # distributions in float32 or bf16 do not sum to 1


def distributions(p: np.ndarray, v: int) -> np.ndarray:
    """Return p, (n, v) or (v,), as float64 (n, v) with rows that sum to 1; a `ValueError` names a row that is none."""
    p = np.ascontiguousarray(np.atleast_2d(np.asarray(p, np.float64)))
    if p.ndim != 2 or p.shape[1] != v:
        raise ValueError(f"p {p.shape} must be (n, {v}): the head has {v} tokens")
    total = p.sum(axis=1, keepdims=True)
    wrong = ~((p >= 0).all(axis=1) & (abs(total[:, 0] - 1) <= SUM_TOLERANCE))  # NaN fails every comparison
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"p: row {row} has NaN, a negative value or the sum {total[row, 0]:g}: not a distribution")
    return p / total
