"""Training batches as a function of (seed, step), so that there is no loader state to save.

A text is one stream, of which any stretch may be drawn, or `Whole` sequences, as its manifest says.
"""

from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from oversmoothing.jobs import UserError

TRAINING, DROPOUT, ORDER = 0, 1, 2
AHEAD = 3  # steps whose bytes are prefetched


@dataclass(frozen=True)
class Whole:
    """Of a text that is made of sequences: their length, and how much of each is given and not to be predicted."""

    length: int
    prompt: int


@dataclass(frozen=True)
class Share:
    """One process's share of each step: its micro-batches, and its sequences (`rows`) in each of them."""

    micros: range
    rows: slice


def share_of(accumulation: int, batch: int, number: int = 0, processes: int = 1) -> Share:
    """Divide a step's micro-batches among the processes or, if that is impossible, the sequences of each one."""
    if accumulation % processes == 0:
        return Share(range(number, accumulation, processes), slice(0, batch))
    if batch % processes == 0:
        part = batch // processes
        return Share(range(accumulation), slice(number * part, (number + 1) * part))
    raise UserError(
        f"training.processes: {processes} divides neither training.accumulation, {accumulation}, "
        f"nor training.batch, {batch}; change one of them"
    )


def training_batch(data: np.ndarray, seed: int, step: int, accumulation: int, batch: int, block: int) -> Tensor:
    """Draw uint8 sequences (accumulation, batch, block + 1) of one step, uniformly from all positions of `data`.

    The draw depends on seed and step alone. The byte beyond a block is the last target: see `inputs_and_targets`.
    """
    generator = np.random.default_rng([TRAINING, seed, step])
    return _sequences(data, generator.integers(0, len(data) - block, size=(accumulation, batch)), block)


def whole_batch(data: np.ndarray, seed: int, step: int, accumulation: int, batch: int, length: int) -> Tensor:
    """Draw whole uint8 sequences (accumulation, batch, length) of one step: each once, then each again in a new order.

    The draw depends on seed and step alone.
    """
    count, size = len(data) // length, accumulation * batch
    places = np.arange(step * size, (step + 1) * size)
    orders = {epoch: _order(seed, epoch, count) for epoch in np.unique(places // count).tolist()}
    chosen = np.array([orders[place // count][place % count] for place in places.tolist()])
    return _sequences(data, chosen.reshape(accumulation, batch) * length, length - 1)


@lru_cache(maxsize=2)
def _order(seed: int, epoch: int, count: int) -> np.ndarray:
    return np.random.default_rng([ORDER, seed, epoch]).permutation(count)


def validation_batches(data: np.ndarray, batches: int, batch: int, block: int, whole: Whole | None = None) -> Tensor:
    """Return evenly spaced uint8 sequences (batches, batch, block + 1), so that losses differ by the model alone.

    Of a text made of sequences these, (batches, batch, length).
    """
    if whole:
        starts = np.linspace(0, len(data) // whole.length - 1, batches * batch).astype(np.int64) * whole.length
        block = whole.length - 1
    else:
        starts = np.linspace(0, len(data) - block - 1, batches * batch).astype(np.int64)
    return _sequences(data, starts.reshape(batches, batch), block)


def inputs_and_targets(sequences: Tensor) -> tuple[Tensor, Tensor]:
    """Split bytes (batch, block + 1) into int64 inputs and targets (batch, block); a target is the next byte."""
    tokens = sequences.long()
    return tokens[:, :-1], tokens[:, 1:]


def dropout_seed(seed: int, step: int, micro: int, number: int) -> int:
    """Return the seed of the dropout masks of one micro-batch in one process."""
    return int(np.random.SeedSequence([DROPOUT, seed, step, micro, number]).generate_state(1, np.uint64)[0] >> 1)


def prefetch(draw: Callable[[int], Tensor], steps: range, device: torch.device) -> Generator[Tensor]:
    """Yield ``draw(step)`` on the device for each step; a thread draws a few steps ahead, as pages come from the disk.

    For a GPU the bytes are pinned, so that the copy does not wait for the previous step.
    """

    def fetch(step: int) -> Tensor:
        drawn = draw(step)
        return drawn.pin_memory() if device.type == "cuda" else drawn

    pool = ThreadPoolExecutor(1, "prefetch")
    try:
        waiting = deque(pool.submit(fetch, step) for step in steps[:AHEAD])
        for step in range(steps.start, steps.stop):
            drawn = waiting.popleft().result()
            if step + AHEAD < steps.stop:
                waiting.append(pool.submit(fetch, step + AHEAD))
            yield drawn.to(device, non_blocking=True)
    finally:
        pool.shutdown(cancel_futures=True)


def _sequences(data: np.ndarray, starts: np.ndarray, block: int) -> Tensor:
    return torch.from_numpy(data[starts[..., None] + np.arange(block + 1)])
