"""What the histories of trainings say: the lowest validation loss, and which learning rate it chooses."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from oversmoothing.store.parquet import read_table


def lowest_loss(history: str | Path) -> float:
    """Return the lowest validation loss of a training, that of the kept weights, in nats per byte or token."""
    return float(np.min(read_table(history, ["validation_loss"])["validation_loss"].to_numpy()))


def choose(losses: Mapping[float, float]) -> float:
    """Return the learning rate with the lowest validation loss, the lowest of several."""
    return min(losses, key=lambda rate: (losses[rate], rate))
