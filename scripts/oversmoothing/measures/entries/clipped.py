"""How often KL clips a model's probabilities."""

import numpy as np

from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.window import Window
from oversmoothing.scores.metrics import clipped as mass_clipped


def clipped(window: Window) -> dict[str, np.ndarray]:
    """Return the truth's mass on tokens at which KL clips the model, and whether there is any."""
    mass = mass_clipped(window.q, window.p)
    return {"mass": mass, "any": (mass > 0).astype(np.float64)}


MEASURE = Measure(
    "clipped",
    clipped,
    needs=("logits", "truth"),
    statistics={
        "clipped": Statistic(("any",), "positions at which KL is clipped", "share of positions"),
        "clipped_mass": Statistic(("mass",), "the truth's mass there", "probability"),
    },
    table="clipping",
)
