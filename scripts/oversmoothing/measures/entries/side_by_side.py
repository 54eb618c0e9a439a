"""The measures of llama.cpp's ``--kl-divergence``, of a model beside a truth at every position."""

import math

import numpy as np

from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.window import Window
from oversmoothing.scores import side_by_side as measured

LEVELS = (1, 0.999, 0.99, 0.95, 0.9, 0.5, 0.1, 0.05, 0.01, 0.001, 0)


def side_by_side(window: Window) -> dict[str, np.ndarray]:
    """Return `scores.side_by_side.SideBySide` as columns, and the square of ``dp``."""
    assert window.truth is not None
    found = measured.side_by_side(window.model, window.truth, window.targets)._asdict()
    return {**found, "dp_squared": found["dp"].astype(np.float64) ** 2}


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
        "dp_rms": Statistic(("dp_squared",), "RMS of dp", "probability", "lower", decimals=None, through=math.sqrt),
    },
    table="side_by_side",
)
