"""Training loop with the thesis's convergence rule; a resumed run is bit-identical to an uninterrupted one."""

import logging
import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from oversmoothing.jobs import UserError
from oversmoothing.models.model import GPT
from oversmoothing.training.batches import Whole, prefetch
from oversmoothing.training.checkpoint import Checkpoints, Progress
from oversmoothing.training.group import Group
from oversmoothing.training.schedule import decay_begins, learning_rate
from oversmoothing.training.step import Step, validation_loss

logger = logging.getLogger(__name__)


def train(
    model: GPT,
    training: np.ndarray,
    validation: np.ndarray,
    settings: Mapping[str, Any],
    seed: int,
    precision: str,
    checkpoints: Checkpoints,
    group: Group | None = None,
    whole: Whole | None = None,
    start: str | Path | None = None,
) -> Progress:
    """Train until the validation loss has not improved in `patience` evaluations, or for `max_steps`.

    With ``states``, numbers of steps, the state after each is kept, and training ends with the last. A training under
    `STABLE` goes on from such a state, `start`, where its decay begins: it ends with the bits of one from the start.
    The best weights are saved in the folder of `checkpoints`, which the caller has locked, and those at the steps of
    `snapshot_steps`. A run that was killed resumes from the last checkpoint and ends with the same bits, because the
    batch and the dropout masks of a step depend on (seed, step) alone. Several processes agree on every loss, and leave
    the files to the first of them. On SIGTERM or SIGINT the state is saved and a `UserError` raised.
    """
    block = model.config.block
    for name, data in (("training", training), ("validation", validation)):
        if whole is None and len(data) <= block:
            raise UserError(f"the {name} split has {len(data)} bytes, which is not more than block: {block}")
        if whole and whole.length - 1 > block:
            raise UserError(f"the {name} split has sequences of {whole.length} bytes, which exceed block: {block}")
    group = group or Group()
    step = Step(model, settings, seed, precision, group, whole)
    snapshots, states = snapshot_steps(settings), set(settings.get("states", ()))
    last = max(states, default=settings["max_steps"])
    # Nothing is written before all have exchanged, except that the first begins a branch.
    progress = checkpoints.restore(model, step.optimiser, snapshots, states)
    if progress.finished:
        return progress
    if start and not progress.step:
        progress = checkpoints.begin(start, model, step.optimiser, decay_begins(settings), group.leads)
    device = model.head.weight.device
    loss_sum = torch.tensor(progress.loss_sum, dtype=torch.float64, device=device)
    step_bytes = settings["accumulation"] * settings["batch"] * (whole.length - whole.prompt if whole else block)
    ends: list[float] = []  # of the steps since the last evaluation, in seconds

    def evaluate() -> None:
        progress.loss_sum = loss_sum.item()
        if len(ends) > 1:  # the first step may include compilation
            speed = (len(ends) - 1) * step_bytes / (time.perf_counter() - ends[0])
            logger.info("%s bytes/s", f"{speed:,.0f}")
        loss = validation_loss(model, validation, settings, precision, group, whole)
        ends.clear()
        record_evaluation(progress, loss, settings, step_bytes)
        loss_sum.zero_()
        if progress.best_step == progress.step and group.leads:
            checkpoints.keep(checkpoints.folder.best, model, progress.step)

    def snapshot() -> None:
        if progress.step in snapshots and group.leads:
            checkpoints.keep(checkpoints.folder.snapshot(progress.step), model, progress.step)
        if progress.step in states and group.leads:
            progress.loss_sum = loss_sum.item()
            checkpoints.branch_off(model, step.optimiser, progress)

    def save() -> None:
        progress.loss_sum = loss_sum.item()
        if group.leads:
            checkpoints.save(model, step.optimiser, progress)
        group.wait()

    if progress.step == 0:
        evaluate()
        snapshot()
    steps, stop = range(progress.step, last), list[str]()
    with (
        tqdm(
            total=last * step_bytes,
            initial=progress.step * step_bytes,
            desc=checkpoints.name,
            unit="B",
            unit_scale=True,
            mininterval=1.0,
            disable=None if group.leads else True,  # shown on a terminal only; the log has the evaluations
        ) as bar,
        on_signals(lambda number: stop.append(signal.Signals(number).name)),
        closing(prefetch(partial(step.draw, training), steps, device)) as batches,
    ):
        while progress.step < last and progress.stale < settings["patience"]:
            loss_sum += step.take(next(batches), progress.step)
            progress.step += 1
            progress.loss_steps += 1
            ends.append(time.perf_counter())
            ended = progress.step == last and not states  # those that go on from a state evaluate when they end
            if progress.step % settings["evaluation_interval"] == 0 or ended:
                evaluate()
                losses = {name: f"{progress.history[-1][name]:.3f}" for name in ("train_loss", "validation_loss")}
                bar.set_postfix(losses, refresh=False)
            snapshot()
            stopped = group.any(bool(stop))
            if stopped or progress.step % checkpoints.interval == 0:
                save()
            bar.update(step_bytes)
            if stopped:
                raise UserError(
                    f"{checkpoints.name}: stopped by {stop[0] if stop else 'another process'} at step "
                    f"{progress.step}; the state is saved, run again to go on"
                )
        if progress.step < max(states, default=0):
            raise UserError(
                f"{checkpoints.name}: the validation loss has not improved in training.patience: "
                f"{settings['patience']} evaluations at step {progress.step}, before the decay of every length began; "
                "raise training.patience"
            )
        if group.leads:
            checkpoints.finish(progress)
    return progress


def snapshot_steps(settings: Mapping[str, Any]) -> set[int]:
    """Return steps at which weights are kept: 0, the powers of two up to `max_steps`, and the multiples of a number."""
    last, kept = settings["max_steps"], settings["snapshots"]
    if not kept:
        return set()
    every = last + 1 if kept is True else kept
    return {0, *(2**k for k in range(last.bit_length())), *range(every, last + 1, every)}


def record_evaluation(progress: Progress, loss: float, settings: Mapping[str, Any], step_bytes: int) -> None:
    """Add an evaluation to the history and update the state of the convergence rule; a loss must be finite."""
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
    losses = f"training loss {'-' if train_loss is None else f'{train_loss:.4f}'}, validation loss {loss:.4f}"
    best = f"best {progress.best_loss:.4f} at step {progress.best_step}"
    logger.info("step %d of %d: %s (%s)", progress.step, settings["max_steps"], losses, best)


@contextmanager
def on_signals(act: Callable[[int], object]) -> Iterator[None]:
    """Call `act` with the number of each SIGTERM and SIGINT received, in place of what they do otherwise."""
    stops = (signal.SIGTERM, signal.SIGINT)
    handlers = {number: signal.signal(number, lambda number, _: act(number)) for number in stops}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
