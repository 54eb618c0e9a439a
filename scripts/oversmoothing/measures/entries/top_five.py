"""How many of the five most probable tokens a model shares with a truth."""

import numpy as np

from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.window import Window
from oversmoothing.scores.nucleus import largest

FIVE = 5


def top_five(window: Window) -> dict[str, np.ndarray]:
    """Return the share of a model's five most probable tokens that are among the truth's; ties go to the lowest ids."""
    k = min(FIVE, window.q.shape[1])
    shared = largest(window.q, k) & largest(window.p, k)
    return {"top_five": shared.sum(axis=1) / k}


MEASURE = Measure(
    "top_five",
    top_five,
    needs=("logits", "truth"),
    statistics={"top_five": Statistic(("top_five",), "overlap of the top five", "share", "higher")},
    table="side_by_side",
)
