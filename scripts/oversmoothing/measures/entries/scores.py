"""The metrics of oversmoothing against a truth, which `oversmoothing.scores.catalogue.metrics` declares."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.window import Window
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS, TAU
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.metrics import score

PURE = {"name": "pure"}


def scores(window: Window, tau: float, decoding: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return each metric of the model, decoded in some way, against the truth."""
    (values,) = score(window.q, window.p, [decoder(decoding)], AGAINST_TRUTHS, tau)
    return dict(zip(AGAINST_TRUTHS, values, strict=True))


MEASURE = Measure(
    "scores",
    scores,
    needs=("logits", "truth"),
    statistics={
        name: Statistic((name,), METRICS[name].label, METRICS[name].unit, METRICS[name].better)
        for name in AGAINST_TRUTHS
    },
    table="oversmoothing",
    settings={"tau": TAU, "decoding": PURE},
)
