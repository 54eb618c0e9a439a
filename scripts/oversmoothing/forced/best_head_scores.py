"""What the best head of a rank forces beside a model's own head; rows of ``scores/best_head/{model}.parquet``.

Heads are fitted to every other window, from the first; what is reported of them is measured on the other windows.
"""

import numpy as np
import pyarrow as pa

from oversmoothing.forced.best_head import best_head
from oversmoothing.forced.projection import project
from oversmoothing.score_files import NAME

BEST_HEAD_SCORES = pa.schema(
    [
        ("window", pa.int32()),
        ("position", pa.int32()),
        ("truth", NAME),
        ("fitted", pa.bool_()),  # whether the best head was fitted to this window
        ("kl", pa.float64()),  # nats, of the model; as in ``scores/forced``
        ("forced", pa.float64()),  # by its head behind its norm; as in ``scores/forced``
        ("free", pa.float64()),  # by its head, with h free in all dimensions
        ("best", pa.float64()),  # by the best head of as many columns that was found
        ("gap", pa.float64()),  # largest proved error of `free` and `best`
    ]
)


def beside_best(
    weights: np.ndarray, bias: np.ndarray | None, p: np.ndarray, fitted: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a trained head and the best head of its rank force of truths, and the larger gap; each (n,), in nats.

    Parameters
    ----------
    weights, bias : arrays, shape (v, r) and (v,)
        The trained head.
    p : array, shape (n, v)
    fitted : bool array, shape (n,)
        The truths to which the best head is fitted: once from the trained head and once from `best_head.leading`,
        whichever ends lower on them.
    """
    own = project(weights, p, bias)
    rank = weights.shape[1]
    if rank >= len(weights) - 1:
        return own.forced, np.zeros(len(p)), own.gap
    found = min((best_head(p[fitted], rank, start) for start in (weights, None)), key=lambda head: head.forced.mean())
    best = project(found.weights, p)
    return own.forced, best.forced, np.maximum(own.gap, best.gap)
