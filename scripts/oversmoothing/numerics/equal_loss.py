"""Values of a measure at equal loss, to compare trainings other than at equal steps."""

from collections.abc import Sequence

import numpy as np


def at_loss(losses: Sequence[float], values: Sequence[float], loss: float) -> float:
    """Return a measure's value where a training first reaches a loss, between two steps; NaN where it does not."""
    found = bracket(losses, loss)
    if found is None:
        return float("nan")
    before, after, share = found
    return float((1 - share) * values[before] + share * values[after])


def bracket(losses: Sequence[float], loss: float) -> tuple[int, int, float] | None:
    """Return the two steps between which a training first reaches a loss, and how far from one to the other it does.

    None where it does not reach the loss, or begins below it.
    """
    below = np.flatnonzero(np.asarray(losses) <= loss)
    if not below.size or (below[0] == 0 and losses[0] < loss):
        return None
    after = int(below[0])
    before = max(after - 1, 0)
    fall = losses[before] - losses[after]
    return before, after, (losses[before] - loss) / fall if fall else 0.0
