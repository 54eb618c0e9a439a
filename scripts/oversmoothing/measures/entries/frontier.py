"""What decoding methods keep of the truth's nucleus, and what they leak, over all their settings."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from oversmoothing.measures.catalogue import Measure
from oversmoothing.measures.cuts import MEASURES, Plane, measured
from oversmoothing.measures.window import Window
from oversmoothing.scores.catalogue.metrics import TAU
from oversmoothing.scores.probabilities import softmax

METHODS: dict[str, list[float]] = {  # values of each method's parameter; [] of one without
    "epsilon": [0.4, 0.3, 0.2, 0.14, 0.1, 0.07, 0.04, 0.02, 0.01, 0.005, 0.002, 0.0007],
    "eta": [0.95, 0.8, 0.6, 0.4, 0.2, 0.1, 0.05, 0.02, 0.01, 0.004, 0.0015, 0.0005],
    "min-k": [0, 8, 16, 24, 36, 52, 75, 110, 160, 230, 340, 500],
    "min-p": [0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.14, 0.1, 0.06, 0.03, 0.015, 0.005],
    "p-less": [],
    "p-less-norm": [],
    "top-h": [0.1, 0.2, 0.35, 0.5, 0.6, 0.7, 0.78, 0.85, 0.9, 0.94, 0.97, 0.99],
    "top-k": [2, 3, 4, 5, 6, 8, 11, 16, 24, 40, 64, 100],
    "top-n-sigma": [0.08, 0.15, 0.25, 0.35, 0.45, 0.55, 0.7, 0.85, 1, 1.25, 1.6, 2.2],
    "top-p": [0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.86, 0.9, 0.94, 0.97, 0.985, 0.996],
    "typical": [0.1, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.86, 0.9, 0.94, 0.97, 0.99],
}
SETTING = ("temperature", "order", "method", "parameter")  # what a column is of: in its name, before the measure


def frontier(
    window: Window,
    methods: Mapping[str, Sequence[float]],
    temperatures: Sequence[float],
    per_window: int | None,
    tau: float,
) -> dict[str, np.ndarray]:
    """Return `cuts.MEASURES` of each method with each of its values, at each temperature and in both orders."""
    assert window.truth is not None
    at = window.positions(per_window)
    plane, settings = Plane(window.truth[at], tau), {"methods": methods, "temperatures": temperatures, "deltas": []}
    columns: dict[str, np.ndarray] = {}
    for _, row, values in measured({"": plane}, softmax(window.model[at]), None, settings):
        setting = "|".join(str(row[name]) for name in SETTING)
        columns |= {f"{setting}|{name}": np.asarray(values[name]) for name in MEASURES}
    return columns


def setting_of(column: str) -> tuple[str, str]:
    """Return which setting a column of `frontier` is of, in one word, and which measure it holds."""
    setting, _, name = column.rpartition("|")
    return setting, name


def described(setting: str) -> dict[str, Any]:
    """Return a setting by the names in `SETTING`; the parameter of a method without one is NaN."""
    found: dict[str, Any] = dict(zip(SETTING, setting.split("|"), strict=True))
    return {**found, **{key: float(found[key]) for key in ("temperature", "parameter")}}


MEASURE = Measure(
    "frontier",
    frontier,
    needs=("logits", "truth"),
    statistics={},  # frontiers are made of sums over windows (`oversmoothing.measures.frontiers`)
    table="frontier",
    settings={"methods": METHODS, "temperatures": (1.0, 1.5), "per_window": 16, "tau": TAU},
)
