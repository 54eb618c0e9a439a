"""The metrics of oversmoothing, each declared once.

The plan, scoring, tables, figures and claims read this module. To add a metric, add an entry to `METRICS`, whose
order is that of columns. It imports only the standard library, so that the workflow is parsed quickly.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

KL_FLOOR = 1e-9  # p_bn is clipped here in KL; every finite KL the thesis prints for greedy, top-k, top-p needs it
NARROW = 1e-4  # brackets of TBAT up to this width are points
TAU = 0.9  # mass of the nucleus set, thesis 4.1.1


@dataclass(frozen=True)
class Metric:
    """A measure of oversmoothing."""

    label: str  # in tables and figures
    unit: str  # "probability", "nats" or "bits"
    better: str  # "lower" or "higher": the direction of less oversmoothing
    settings: tuple[str, ...] = ()  # keys of the config's `metrics` that its values depend on
    formula: Callable[[Any], Any] | None = None  # of a pair (see `metrics.score`), by row; None if it needs the head
    table: str = "oversmoothing"  # the table of scores that shows it, or "entropy_difference"

    @property
    def name(self) -> str:
        """The label without its unit: "KL" for "KL (nats)"."""
        return self.label.removesuffix(f" ({self.unit})")


METRICS: dict[str, Metric] = {
    "tto": Metric(
        "TTO", "probability", "lower", settings=("tau",), formula=lambda pair: pair.dot(pair.excess, pair.truth.outside)
    ),
    "nsmd": Metric(
        "NSMD",
        "probability",
        "lower",
        settings=("tau",),
        formula=lambda pair: -pair.dot(pair.difference, pair.truth.nucleus),
    ),
    # sum |d| / 2 = sum max(0, d) - sum d / 2, and max(0, d) is already known; the last sum is zero up to rounding.
    "tv": Metric(
        "TV", "probability", "lower", formula=lambda pair: pair.sum(pair.excess) - pair.sum(pair.difference) / 2
    ),
    "kl": Metric(
        "KL (nats)",
        "nats",
        "lower",
        formula=lambda pair: (
            pair.truth.negative_entropy - pair.dot(pair.truth.p, pair.xp.maximum(pair.log, math.log(KL_FLOOR)))
        ),
    ),
    "tbat": Metric("TBAT", "probability", "lower", settings=("delta", "condition")),
    "entropy_difference": Metric(
        "Entropy difference (bits)",
        "bits",
        "higher",  # the thesis: "lower values indicate stronger oversmoothing"
        formula=lambda pair: (pair.dot(pair.p, pair.log) - pair.truth.negative_entropy) / math.log(2),
        table="entropy_difference",
    ),
}

OF_DISTRIBUTIONS = tuple(name for name, metric in METRICS.items() if metric.formula)  # computed by `metrics.score`
AGAINST_TRUTHS = tuple(name for name in OF_DISTRIBUTIONS if METRICS[name].table == "oversmoothing")
