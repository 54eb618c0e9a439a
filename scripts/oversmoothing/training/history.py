"""The history of a training: its validation losses along the way."""

from pathlib import Path

import numpy as np

from oversmoothing.store.parquet import read_table


def lowest_loss(history: str | Path) -> float:
    """Return the lowest validation loss of a training, that of the kept weights, in nats per byte or token."""
    return float(np.min(read_table(history, ["validation_loss"])["validation_loss"].to_numpy()))
