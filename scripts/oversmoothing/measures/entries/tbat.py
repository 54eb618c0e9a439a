"""TBAT: the mass that a model gives to tokens that, for all its head can tell, may be impossible."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.window import Window
from oversmoothing.numerics.log_ratio import DELTA
from oversmoothing.scores import tbat as bounds
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.probabilities import softmax

OURS = METRICS["tbat"]


def tbat(
    window: Window,
    delta: float,
    mass_tolerance: float,
    per_window: int | None,
    windows: int | None,
    decoding: Mapping[str, Any],
) -> dict[str, np.ndarray]:
    """Return the middle of TBAT's bracket at some positions, and the width of the bracket."""
    assert window.head is not None
    at = window.positions(per_window, windows)
    if not len(at):
        return {"tbat": np.empty(0, np.float32), "width": np.empty(0)}
    p = decoder(decoding)(softmax(window.model[at].astype(np.float64)))
    found = bounds.tbat(window.head.basis, p, delta, mass_tolerance, f"window {window.number}")
    return {"tbat": found.value.astype(np.float32), "width": found.high - found.low}


MEASURE = Measure(
    "tbat",
    tbat,
    needs=("logits", "head"),
    statistics={"tbat": Statistic(("tbat",), OURS.label, OURS.unit, OURS.better, bracket="width")},
    table="oversmoothing",
    settings={
        "delta": DELTA,
        "mass_tolerance": 1e-3,
        "per_window": 1,
        "windows": None,
        "decoding": {"name": "pure"},
    },
)
