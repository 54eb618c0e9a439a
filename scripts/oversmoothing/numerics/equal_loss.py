"""Values of a measure at equal loss, to compare trainings other than at equal steps."""

from collections.abc import Sequence

import numpy as np


def at_loss(losses: Sequence[float], values: Sequence[float], loss: float) -> float:
    """Return a measure's value where a training first reaches a loss, between two steps; NaN where it does not."""
    below = np.flatnonzero(np.asarray(losses) <= loss)
    if not below.size or (below[0] == 0 and losses[0] < loss):
        return float("nan")
    after = int(below[0])
    before = max(after - 1, 0)
    return float(np.interp(loss, [losses[after], losses[before]], [values[after], values[before]]))
