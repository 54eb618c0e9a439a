"""What practitioners compare two models by, position by position: the measures of llama.cpp's ``--kl-divergence``.

There a quantised model is held against its original. Its log-probabilities have 16 bits, and tokens to which the
original gives less than e^-16 are left out of KL; here both are exact.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy.special import log_softmax

from oversmoothing.forced.divergence import divergence
from oversmoothing.scores.files import NAME

LOG_FLOOR = float(np.log(np.finfo(np.float32).tiny))  # -87.3: a smaller log-probability is taken for it
VALUES = 1 << 22  # in a chunk of rows, in float64
ROWS = pa.schema(
    [
        ("window", pa.int32()),
        ("position", pa.int32()),  # from 0 at the first scored token
        ("truth", NAME),
        ("kl", pa.float32()),  # nats
        ("same_top", pa.bool_()),
        ("dp", pa.float32()),  # probability
        ("log_ratio", pa.float32()),  # nats
    ]
)


class SideBySide(NamedTuple):
    r"""A model q beside a truth p at n positions, each with the token x that came next; float32 (n,), and bool (n,).

    ``kl``, in nats, is :math:`\sum_i p_i \ln(p_i / q_i)`. ``same_top`` says whether both have the same most probable
    token, of equal ones the first. ``dp`` is :math:`q_x - p_x`, a probability, and ``log_ratio``
    :math:`\ln p_x - \ln q_x`, in nats: its mean is the logarithm of the ratio of the perplexities, the model's over the
    truth's.
    """

    kl: np.ndarray
    same_top: np.ndarray
    dp: np.ndarray
    log_ratio: np.ndarray


def side_by_side(model: np.ndarray, truth: np.ndarray, targets: np.ndarray) -> SideBySide:
    """Compare a model with a truth, from logits (n, v) and the tokens that came next, int (n,).

    A log-probability below `LOG_FLOOR` is taken for it, so that all values are finite. A `ValueError` is raised if
    shapes differ, or a target is no token.
    """
    if model.ndim != 2 or model.shape != truth.shape or targets.shape != model.shape[:1]:
        raise ValueError(
            f"model {model.shape} and truth {truth.shape} must have the same shape (n, v), and targets "
            f"{targets.shape} the shape (n,)"
        )
    n, v = model.shape
    if n and not 0 <= targets.min() <= targets.max() < v:
        raise ValueError(f"targets from {targets.min()} to {targets.max()} are not all within 0 and {v - 1}")
    kinds = np.float32, np.bool_, np.float32, np.float32
    found = SideBySide(*(np.empty(n, kind) for kind in kinds))
    rows = max(1, VALUES // v)
    for start in range(0, n, rows):
        part = slice(start, start + rows)
        log_q, log_p = (log_softmax(logits[part].astype(np.float64), axis=1) for logits in (model, truth))
        at = np.arange(len(log_q)), targets[part]
        found.kl[part] = divergence(np.exp(log_p), np.maximum(log_q, LOG_FLOOR))
        found.same_top[part] = model[part].argmax(axis=1) == truth[part].argmax(axis=1)
        found.dp[part] = np.exp(log_q[at]) - np.exp(log_p[at])
        found.log_ratio[part] = np.maximum(log_p[at], LOG_FLOOR) - np.maximum(log_q[at], LOG_FLOOR)
    return found


def rows_of(window: int, truth: str, found: SideBySide) -> pa.RecordBatch:
    """Return rows of a file of `ROWS`, for a window and a truth."""
    n = len(found.kl)
    keys = pa.array(np.full(n, window, np.int32)), pa.array(np.arange(n, dtype=np.int32))
    name = pa.array([truth] * n, pa.string()).dictionary_encode().cast(NAME)
    return pa.record_batch([*keys, name, *map(pa.array, found)], schema=ROWS)
