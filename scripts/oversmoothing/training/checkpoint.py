"""What training needs to go on after a kill: one file, replaced whole, under a lock."""

import fcntl
import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from oversmoothing.jobs import UserError
from oversmoothing.weights import load_tensors, save_tensors

logger = logging.getLogger(__name__)


@dataclass
class Progress:
    """How far a training has come; all but weights and optimiser moments.

    Attributes
    ----------
    step : int
        Optimiser steps done.
    best_loss : float
        The lowest validation loss so far (nats per byte), reached at `best_step`.
    stale : int
        Evaluations since then.
    loss_sum, loss_steps : float, int
        Training loss summed since the last evaluation.
    history : list of dict
        One row per evaluation (see `loop.HISTORY`).
    """

    step: int = 0
    best_loss: float = float("inf")
    best_step: int = 0
    stale: int = 0
    loss_sum: float = 0.0
    loss_steps: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)


class Checkpoints:
    """The folder of a training under way: ``resume``, the ``best`` weights, and ``snapshots`` by step.

    Parameters
    ----------
    folder : Path
        Lives outside the rule's declared outputs, because Snakemake deletes those of a failed job.
    key : str
        A digest of settings, code and data. A folder of another key is from another training: it is cleared.
    interval : int
        Steps between two saves; no part of the key, because it changes no weight.
    """

    def __init__(self, folder: str | Path, key: str, interval: int) -> None:
        self.folder = Path(folder)
        self.key = key
        self.interval = interval
        self.best = self.folder / "best.safetensors"
        self.snapshots = self.folder / "snapshots"
        self._resume = self.folder / "resume.safetensors"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for this process alone.

        Raises
        ------
        UserError
            If another process trains in it: after a kill of Snakemake an orphan may live on.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UserError(
                    f"{self.folder}: another process is training this model; wait for it or end it"
                ) from None
            except OSError as error:
                raise UserError(
                    f"{self.folder}: this file system has no file locks ({error}); set `checkpoints:` in the "
                    "config to a folder on one that has"
                ) from error
            yield

    def save(self, model: nn.Module, optimiser: torch.optim.Optimizer, progress: Progress) -> None:
        """Replace the resume file by the state of now."""
        tensors = {f"model/{name}": tensor for name, tensor in model.state_dict().items()}
        for name, parameter in model.named_parameters():
            for moment in ("exp_avg", "exp_avg_sq"):
                if parameter in optimiser.state:
                    tensors[f"{moment}/{name}"] = optimiser.state[parameter][moment]
        save_tensors(self._resume, tensors, {"key": self.key, "progress": json.dumps(asdict(progress))})

    def restore(self, model: nn.Module, optimiser: torch.optim.Optimizer) -> Progress:
        """Load the resume file into model and optimiser; without a fitting one, start from nothing.

        Returns
        -------
        Progress
            Fresh if there was no checkpoint, or one of other settings, code or data (which is cleared).
        """
        if not self._resume.exists():
            self._clear()
            return Progress()
        tensors, metadata = load_tensors(self._resume)
        if metadata.get("key") != self.key:
            logger.warning("%s: a checkpoint of other settings, code or data; starting anew", self.folder)
            self._clear()
            return Progress()
        progress = Progress(**json.loads(metadata["progress"]))
        model.load_state_dict({name: tensors[f"model/{name}"] for name in model.state_dict()})
        for name, parameter in model.named_parameters():
            if f"exp_avg/{name}" in tensors:
                optimiser.state[parameter] = {
                    "step": torch.tensor(float(progress.step), device=parameter.device),
                    "exp_avg": _like(parameter, tensors[f"exp_avg/{name}"]),
                    "exp_avg_sq": _like(parameter, tensors[f"exp_avg_sq/{name}"]),
                }
        logger.info("resuming at step %d", progress.step)
        return progress

    def finish(self) -> None:
        """Delete the folder: the training's outputs are in place."""
        shutil.rmtree(self.folder)

    def _clear(self) -> None:
        for path in (self._resume, self.best):
            path.unlink(missing_ok=True)
        shutil.rmtree(self.snapshots, ignore_errors=True)


def _like(parameter: Tensor, value: Tensor) -> Tensor:
    return value.to(parameter.device, parameter.dtype)
