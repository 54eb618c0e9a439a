"""The Jensen-Shannon divergence, which is the same in both directions and at most ln 2."""

import math

import numpy as np

from oversmoothing.forced.divergence import divergence
from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.window import Window


def jensen_shannon(window: Window) -> dict[str, np.ndarray]:
    """Return the mean of the KL divergences of model and truth from their mixture, in nats."""
    mixture = np.logaddexp(window.log_p, window.log_q) - math.log(2)
    sides = [divergence(np.exp(side), mixture) for side in (window.log_p, window.log_q)]
    return {"jensen_shannon": np.mean(sides, axis=0)}


MEASURE = Measure(
    "jensen_shannon",
    jensen_shannon,
    needs=("logits", "truth"),
    statistics={
        "jensen_shannon": Statistic(("jensen_shannon",), "Jensen-Shannon (nats)", "nats", "lower", decimals=None)
    },
    table="side_by_side",
)
