"""Which bytes a step sees: a function of (seed, step), so there is no loader state to save or to lose."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

TRAINING, DROPOUT = 0, 1


def training_batches(
    data: np.ndarray, seed: int, step: int, accumulation: int, batch: int, block: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Draw the micro-batches of one step, uniformly with replacement from all positions of `data`.

    Parameters
    ----------
    data : uint8 array, shape (bytes,)
    seed, step : int
        All that the draw depends on.
    accumulation, batch, block : int
        Micro-batches per step, sequences per micro-batch, bytes per sequence.

    Yields
    ------
    inputs, targets : int64 tensors, shape (batch, block)
        `targets` is `inputs` one byte later.
    """
    generator = np.random.default_rng([TRAINING, seed, step])
    starts = generator.integers(0, len(data) - block, size=(accumulation, batch))
    for micro in starts:
        yield _pairs(data, micro, block)


def validation_batches(data: np.ndarray, batches: int, batch: int, block: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the same evenly spaced sequences at each evaluation, so that losses differ by the model alone."""
    starts = np.linspace(0, len(data) - block - 1, batches * batch).astype(np.int64)
    for micro in starts.reshape(batches, batch):
        yield _pairs(data, micro, block)


def dropout_seed(seed: int, step: int, micro: int) -> int:
    """Return the seed of the dropout masks of one micro-batch."""
    return int(np.random.SeedSequence([DROPOUT, seed, step, micro]).generate_state(1, np.uint64)[0] >> 1)


def _pairs(data: np.ndarray, starts: np.ndarray, block: int) -> tuple[Tensor, Tensor]:
    rows = data[starts[:, None] + np.arange(block + 1)].astype(np.int64)
    tokens = torch.from_numpy(rows)
    return tokens[:, :-1], tokens[:, 1:]
