"""Training to the thesis's convergence rule, resumable to the bit."""

import logging
import math
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor
from torch.nn import functional as F
from tqdm import tqdm

from oversmoothing.device import autocast
from oversmoothing.jobs import UserError
from oversmoothing.model import GPT
from oversmoothing.training.batches import dropout_seed, training_batches, validation_batches
from oversmoothing.training.checkpoint import Checkpoints, Progress
from oversmoothing.training.optimiser import build_optimiser, learning_rate
from oversmoothing.weights import save_model

logger = logging.getLogger(__name__)

HISTORY = pa.schema(
    [
        ("step", pa.int32()),
        ("bytes", pa.int64()),  # seen in training so far
        ("learning_rate", pa.float64()),
        ("train_loss", pa.float64()),  # nats per byte, mean since the row before; null at step 0
        ("validation_loss", pa.float64()),  # nats per byte
    ]
)


def train(
    model: GPT,
    training: np.ndarray,
    validation: np.ndarray,
    settings: Mapping[str, Any],
    seed: int,
    precision: str,
    checkpoints: Checkpoints,
) -> Progress:
    """Train until the validation loss has not improved in `patience` evaluations, or for `max_steps`.

    The best weights end up in ``checkpoints.best``, and with ``settings["snapshots"]`` the weights at the steps
    0, 1, 2, 4, 8, ... in ``checkpoints.snapshots``. Called again after a kill, it goes on from the last checkpoint
    and ends with the same bits as an uninterrupted run (same kind of machine, threads and precision): the batch and
    the dropout masks of a step depend on (seed, step) alone.

    Parameters
    ----------
    model : GPT
        With its initial weights, on its device.
    training, validation : uint8 arrays
        Bytes to learn from, and to choose the checkpoint by.
    settings : mapping
        The `training` section of the config.
    seed : int
        Of data order and dropout.
    precision : {"bf16", "float32"}
    checkpoints : Checkpoints
        Locked by the caller.

    Returns
    -------
    Progress
        With the whole history.

    Raises
    ------
    UserError
        If a split is shorter than a block, if the loss stops being a number, or, once the state is saved, after
        SIGTERM or SIGINT.
    """
    block = model.config.block
    for name, data in (("training", training), ("validation", validation)):
        if len(data) <= block:
            raise UserError(f"the {name} split has {len(data)} bytes, which is not more than block: {block}")
    optimiser = build_optimiser(model, settings)
    progress = checkpoints.restore(model, optimiser)
    loss_sum = torch.tensor(progress.loss_sum, dtype=torch.float64, device=_device(model))
    snapshots = snapshot_steps(settings["max_steps"]) if settings["snapshots"] else set()
    step_bytes = settings["accumulation"] * settings["batch"] * block

    def evaluate() -> None:
        progress.loss_sum = loss_sum.item()
        loss = validation_loss(model, validation, settings, precision)
        record_evaluation(progress, loss, settings, step_bytes)
        loss_sum.zero_()
        if progress.best_step == progress.step:
            save_model(checkpoints.best, model.config, model.state_dict(), {"step": str(progress.step)})

    def snapshot() -> None:
        if progress.step in snapshots:
            path = checkpoints.snapshots / f"{progress.step:08d}.safetensors"
            save_model(path, model.config, model.state_dict(), {"step": str(progress.step)})

    if progress.step == 0:
        evaluate()
        snapshot()
    with _progress_bar(checkpoints, settings, progress, step_bytes) as bar, _stop_signals() as stop:
        while progress.step < settings["max_steps"] and progress.stale < settings["patience"]:
            loss_sum += _step(model, optimiser, training, settings, seed, progress.step, precision)
            progress.step += 1
            progress.loss_steps += 1
            if progress.step % settings["evaluation_interval"] == 0 or progress.step == settings["max_steps"]:
                evaluate()
                last = progress.history[-1]
                bar.set_postfix(
                    loss=f"{last['train_loss']:.3f}", validation=f"{last['validation_loss']:.3f}", refresh=False
                )
            snapshot()
            if stop or progress.step % checkpoints.interval == 0:
                progress.loss_sum = loss_sum.item()
                checkpoints.save(model, optimiser, progress)
            bar.update(step_bytes)
            if stop:
                raise UserError(
                    f"{checkpoints.folder.name}: stopped by {stop[0]} at step {progress.step}; "
                    "the state is saved, run again to go on"
                )
        checkpoints.save(model, optimiser, progress)
    return progress


def snapshot_steps(max_steps: int) -> set[int]:
    """Return the steps at which weights are kept: 0 and the powers of two up to `max_steps`."""
    return {0} | {2**k for k in range(max_steps.bit_length()) if 2**k <= max_steps}


@torch.no_grad()
def validation_loss(model: GPT, data: np.ndarray, settings: Mapping[str, Any], precision: str) -> float:
    """Return the mean cross-entropy in nats per byte over `evaluation_batches` fixed batches of `data`."""
    device = _device(model)
    model.eval()
    total = torch.zeros((), dtype=torch.float64, device=device)
    batches = settings["evaluation_batches"]
    for inputs, targets in validation_batches(data, batches, settings["batch"], model.config.block):
        total += _loss(model, inputs, targets, precision)
    model.train()
    return total.item() / batches


def record_evaluation(progress: Progress, loss: float, settings: Mapping[str, Any], step_bytes: int) -> None:
    """Add an evaluation to the history and update what the convergence rule needs.

    Raises
    ------
    UserError
        If the training or the validation loss is not finite.
    """
    train_loss = progress.loss_sum / progress.loss_steps if progress.loss_steps else None
    if not math.isfinite(loss) or not math.isfinite(train_loss or 0.0):
        raise UserError(
            f"the loss is not a number at step {progress.step} (training {train_loss}, validation {loss}); "
            "lower training.learning_rate or raise training.warmup_steps"
        )
    if loss < progress.best_loss:
        progress.best_loss, progress.best_step, progress.stale = loss, progress.step, 0
    else:
        progress.stale += 1
    progress.loss_sum, progress.loss_steps = 0.0, 0
    progress.history.append(
        {
            "step": progress.step,
            "bytes": progress.step * step_bytes,
            "learning_rate": learning_rate(progress.step, settings),
            "train_loss": train_loss,
            "validation_loss": loss,
        }
    )
    logger.info(
        "step %d: training loss %s, validation loss %.4f (best %.4f at step %d)",
        progress.step,
        "-" if train_loss is None else f"{train_loss:.4f}",
        loss,
        progress.best_loss,
        progress.best_step,
    )


def _step(
    model: GPT,
    optimiser: torch.optim.Optimizer,
    data: np.ndarray,
    settings: Mapping[str, Any],
    seed: int,
    step: int,
    precision: str,
) -> Tensor:
    """Take one optimiser step and return its mean loss, still on the device."""
    for group in optimiser.param_groups:
        group["lr"] = learning_rate(step, settings)
    accumulation = settings["accumulation"]
    batches = training_batches(data, seed, step, accumulation, settings["batch"], model.config.block)
    total = torch.zeros((), device=_device(model))
    for micro, (inputs, targets) in enumerate(batches):
        if model.config.dropout:
            torch.manual_seed(dropout_seed(seed, step, micro))
        loss = _loss(model, inputs, targets, precision) / accumulation
        loss.backward()
        total += loss.detach()
    torch.nn.utils.clip_grad_norm_(model.parameters(), settings["clip"])
    optimiser.step()
    optimiser.zero_grad(set_to_none=True)
    return total


def _loss(model: GPT, inputs: Tensor, targets: Tensor, precision: str) -> Tensor:
    device = _device(model)
    with autocast(device, precision):
        logits = model(inputs.to(device))
    return F.cross_entropy(logits.flatten(0, 1), targets.to(device).flatten())


def _device(model: GPT) -> torch.device:
    return model.head.weight.device


def _progress_bar(checkpoints: Checkpoints, settings: Mapping[str, Any], progress: Progress, step_bytes: int) -> tqdm:
    return tqdm(
        total=settings["max_steps"] * step_bytes,
        initial=progress.step * step_bytes,
        desc=checkpoints.folder.name,
        unit="B",
        unit_scale=True,
        mininterval=1.0,
        disable=None,  # on a terminal only; the log has the evaluations
    )


@contextmanager
def _stop_signals() -> Iterator[list[str]]:
    """Collect the names of SIGTERM and SIGINT as they come, so that the loop can save before it stops."""
    received: list[str] = []
    handlers = {
        number: signal.signal(number, lambda number, _: received.append(signal.Signals(number).name))
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield received
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
