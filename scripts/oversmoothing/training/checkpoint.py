"""Checkpoints to resume training after it was killed: one file, replaced atomically, under a lock."""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from oversmoothing.jobs import UserError
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_metadata, load_tensors, save_model, save_tensors
from oversmoothing.store.identity import NAME
from oversmoothing.training.folder import Folder
from oversmoothing.training.lock import Lock
from oversmoothing.training.schedule import but_for_length

logger = logging.getLogger(__name__)

TRAINING = "training"  # in the metadata of weights: the key of the training that they belong to
MODEL, BEST = "model/", "best/"  # before the names of weights: those of the state, and the best until then


@dataclass
class Progress:
    """State of a training except weights and optimiser moments."""

    step: int = 0  # completed optimiser steps
    best_loss: float = float("inf")  # the lowest validation loss so far, in nats per byte
    best_step: int = 0
    stale: int = 0  # evaluations since then
    loss_sum: float = 0.0  # of training, since the last evaluation
    loss_steps: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)  # rows of `outputs.HISTORY`
    finished: bool = False


class Checkpoints:
    """Checkpoints of a training that is running, or that has ended and whose outputs can be written from them."""

    def __init__(
        self,
        checkpoints: str | Path,  # the same for all trainings of a model
        key: str,  # from `training_key`
        interval: int,  # steps between two saves, which do not affect the weights
        made_by: Mapping[str, str] | None = None,  # provenance, recorded in the outputs, whichever process writes them
        snapshots: str | None = None,  # folder in the results of the snapshots, which become outputs as they are
    ) -> None:
        self.name = Path(checkpoints).name
        self.folder = Folder.of(checkpoints, key)
        self.key = key
        self.interval = interval
        self._made_by = made_by or {}
        self._snapshots = snapshots
        self._lock = Lock(self.folder.path)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for this process alone; a `UserError` if another one trains in it."""
        self.folder.path.mkdir(parents=True, exist_ok=True)
        with self._lock.held():
            yield

    def save(self, model: GPT, optimiser: torch.optim.Optimizer, progress: Progress) -> None:
        """Replace the resume file by the current state; a `UserError` if another process has taken over the folder."""
        self._write(_tensors(model, optimiser), progress)

    def branch_off(self, model: GPT, optimiser: torch.optim.Optimizer, progress: Progress) -> None:
        """Write the current state to a file of its own, with the best weights so far: what `begin` goes on from."""
        best, _ = load_tensors(self.folder.best)
        tensors = _tensors(model, optimiser) | {f"{BEST}{name}": weight for name, weight in best.items()}
        self._write(tensors, progress, self.folder.state(progress.step))

    def begin(
        self, start: str | Path, model: GPT, optimiser: torch.optim.Optimizer, step: int, leads: bool = True
    ) -> Progress:
        """Load a state of `branch_off`, as if this training had taken its steps; return what it was then.

        The process that `leads` writes the best weights until then. A `UserError` if it is none, or of another
        step, model or text.
        """
        tensors, metadata = load_tensors(start)
        shape = {name.removeprefix(MODEL): tensor.shape for name, tensor in tensors.items() if name.startswith(MODEL)}
        progress = Progress(**json.loads(metadata.get("progress", "{}")))
        alike = shape == {name: tensor.shape for name, tensor in model.state_dict().items()}
        made_by = json.loads(metadata.get("made_by", "{}"))
        if progress.step != step or not alike or _learned(made_by) != _learned(self._made_by):
            raise UserError(f"{start}: no state of this model after {step} steps; delete it and run again")
        best = {name.removeprefix(BEST): tensor for name, tensor in tensors.items() if name.startswith(BEST)}
        if leads:
            self._keep(self.folder.best, model, best, progress.best_step)
        _load(model, optimiser, tensors, progress.step)
        logger.info("going on at step %d from %s", progress.step, start)
        return progress

    def keep(self, path: Path, model: GPT, step: int) -> None:
        """Write the weights after `step` steps to a file of the folder, with the training that they belong to."""
        self._keep(path, model, model.state_dict(), step)

    def _keep(self, path: Path, model: GPT, weights: Mapping[str, Tensor], step: int) -> None:
        made_by = {name: self._made_by[name] for name in ("model", "settings") if name in self._made_by}
        named = {NAME: f"{self._snapshots}/{path.name}"} if self._snapshots and path != self.folder.best else {}
        save_model(path, model.config, weights, {**made_by, **named, TRAINING: self.key, "step": str(step)})

    def finish(self, progress: Progress) -> None:
        """Replace the resume file by what is needed to write the outputs again, until Snakemake has recorded them."""
        progress.finished = True
        self._write({}, progress)

    def restore(
        self, model: GPT, optimiser: torch.optim.Optimizer, snapshots: Iterable[int], states: Iterable[int] = ()
    ) -> Progress:
        """Load the resume file, if there is one, into model and optimiser, unless training has ended; return its state.

        `snapshots` and `states` are the steps after which files are kept.

        A `UserError` if a file of completed steps is damaged or missing, or the checkpoint is that of another training.
        """
        if not self.folder.resume.exists():
            for other in self.folder.others():
                logger.warning("%s: of other settings, code, data or packages; delete it if nobody needs it", other)
            return Progress()
        tensors, metadata = load_tensors(self.folder.resume)
        if metadata.get("key") != self.key:
            raise UserError(f"{self.folder.path}: a checkpoint of another training; move it away and run again")
        progress = Progress(**json.loads(metadata["progress"]))
        self._check(self.folder.best, progress.best_step if progress.finished else None)  # or a later one
        for step in (step for step in snapshots if step <= progress.step):
            self._check(self.folder.snapshot(step), step)
        for step in (step for step in states if step <= progress.step):
            self._check(self.folder.state(step), step)
        if progress.finished:
            logger.info("training had ended at step %d; its outputs are written again", progress.step)
            return progress
        _load(model, optimiser, tensors, progress.step)
        logger.info("resuming at step %d", progress.step)
        return progress

    def _write(self, tensors: Mapping[str, Tensor], progress: Progress, state: Path | None = None) -> None:
        self._lock.verify()
        metadata = {"progress": json.dumps(asdict(progress)), "made_by": json.dumps(dict(self._made_by))}
        of = {TRAINING: self.key, "step": str(progress.step)} if state else {}
        save_tensors(state or self.folder.resume, tensors, {"key": self.key, **of, **metadata})

    def _check(self, path: Path, step: int | None) -> None:
        """Check a file that no later step would write again: its training and, unless it is None, its step."""
        try:
            metadata = load_metadata(path)
            if metadata.get(TRAINING) != self.key or step not in (None, int(metadata["step"])):
                raise UserError(f"{path}: the weights of another training or step")
        except UserError as error:
            raise UserError(
                f"{path}: missing or damaged, or of another training, and no later step writes it again; "
                f"delete {self.folder.path} to train from the start"
            ) from error


def _learned(made_by: Mapping[str, str]) -> tuple[Any, str | None]:
    """Return the settings of a training without those of its length, and the digest of its text."""
    return but_for_length(json.loads(made_by.get("settings", "{}"))), made_by.get("corpus")


def _tensors(model: GPT, optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return what a training goes on from: weights and moments."""
    tensors = {f"{MODEL}{name}": tensor for name, tensor in model.state_dict().items()}
    if model.backward_head is not None:
        tensors["backward_head"] = model.backward_head
    for name, parameter in model.named_parameters():
        for moment in ("exp_avg", "exp_avg_sq"):
            if parameter in optimiser.state:
                tensors[f"{moment}/{name}"] = optimiser.state[parameter][moment]
    return tensors


def _load(model: GPT, optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor], step: int) -> None:
    """Load what `_tensors` returned after `step` steps into a model and its optimiser."""
    model.load_state_dict({name: tensors[f"{MODEL}{name}"] for name in model.state_dict()})
    if model.backward_head is not None:
        model.backward_head.copy_(tensors["backward_head"])
    for name, parameter in model.named_parameters():
        if f"exp_avg/{name}" in tensors:
            optimiser.state[parameter] = {
                "step": torch.tensor(float(step), device=parameter.device),
                "exp_avg": tensors[f"exp_avg/{name}"].to(parameter.device),
                "exp_avg_sq": tensors[f"exp_avg_sq/{name}"].to(parameter.device),
            }
