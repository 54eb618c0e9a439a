"""The measures of llama.cpp's ``--kl-divergence``, of a model beside a truth at every position.

There a quantised model is held against its original. Its log-probabilities have 16 bits, and tokens to which the
original gives less than e^-16 are left out of KL; here both are exact.
"""

import math

import numpy as np
from scipy.special import log_softmax

from oversmoothing.forced.divergence import divergence
from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.window import Window

LOG_FLOOR = float(np.log(np.finfo(np.float32).tiny))  # -87.3: a smaller log-probability is taken for it
VALUES = 1 << 22  # in a chunk of rows, in float64
KINDS = {"kl": np.float32, "same_top": np.bool_, "dp": np.float32, "log_ratio": np.float32}
LEVELS = (1, 0.999, 0.99, 0.95, 0.9, 0.5, 0.1, 0.05, 0.01, 0.001, 0)


def side_by_side(window: Window) -> dict[str, np.ndarray]:
    """Return the columns of `compared`."""
    assert window.truth is not None
    return compared(window.model, window.truth, window.targets)


def compared(model: np.ndarray, truth: np.ndarray, targets: np.ndarray) -> dict[str, np.ndarray]:
    r"""Compare a model q with a truth p, from logits (n, v) and the tokens x that came next, int (n,).

    ``kl``, in nats, is :math:`\sum_i p_i \ln(p_i / q_i)`. ``same_top`` says whether both have the same most probable
    token, of equal ones the first. ``dp`` is :math:`q_x - p_x`, a probability, and ``log_ratio``
    :math:`\ln p_x - \ln q_x`, in nats: its mean is the logarithm of the ratio of the perplexities, the model's over the
    truth's. All are float32 (n,), but ``same_top`` bool.

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
    found: dict[str, np.ndarray] = {name: np.empty(n, kind) for name, kind in KINDS.items()}
    rows = max(1, VALUES // v)
    for start in range(0, n, rows):
        part = slice(start, start + rows)
        log_q, log_p = (log_softmax(logits[part].astype(np.float64), axis=1) for logits in (model, truth))
        at = np.arange(len(log_q)), targets[part]
        found["kl"][part] = divergence(np.exp(log_p), np.maximum(log_q, LOG_FLOOR))
        found["same_top"][part] = model[part].argmax(axis=1) == truth[part].argmax(axis=1)
        found["dp"][part] = np.exp(log_q[at]) - np.exp(log_p[at])
        found["log_ratio"][part] = np.maximum(log_p[at], LOG_FLOOR) - np.maximum(log_q[at], LOG_FLOOR)
    return found


def _squared(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float64) ** 2


MEASURE = Measure(
    "side_by_side",
    side_by_side,
    needs=("logits", "truth", "targets"),
    statistics={
        "perplexity_ratio": Statistic(("log_ratio",), "perplexity ratio", "ratio", "lower", through=math.exp),
        "log_ratio": Statistic(("log_ratio",), "its logarithm (nats)", "nats", "lower", decimals=None),
        "same_top": Statistic(("same_top",), "same top {unit}", "share", "higher"),
        "kl": Statistic(("kl",), "KL (nats)", "nats", "lower", decimals=None, levels=LEVELS),
        "dp": Statistic(("dp",), "dp", "probability", decimals=None, levels=LEVELS),
        "dp_rms": Statistic(
            ("dp",), "RMS of dp", "probability", "lower", decimals=None, before=_squared, through=math.sqrt
        ),
    },
    table="side_by_side",
)
