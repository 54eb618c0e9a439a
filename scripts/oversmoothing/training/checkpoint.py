"""What training needs to go on after a kill: one file, replaced whole, under a lock."""

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

from oversmoothing.training.lock import Lock
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
        self._lock = Lock(self.folder)
        self._finished = False

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for this process alone; leave none of it behind after `finish`.

        Raises
        ------
        UserError
            If another process trains in it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._lock.held():
            yield
        if self._finished:  # only now, because a network file system keeps a file that is open
            (self.folder / "lock").unlink(missing_ok=True)
            self.folder.rmdir()

    def save(self, model: nn.Module, optimiser: torch.optim.Optimizer, progress: Progress) -> None:
        """Replace the resume file by the state of now.

        Raises
        ------
        UserError
            If another process has taken the folder over.
        """
        self._lock.verify()
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
        """Delete what the folder holds: the training's outputs are in place."""
        self._clear()
        self._finished = True

    def _clear(self) -> None:
        for path in (self._resume, self.best):
            path.unlink(missing_ok=True)
        shutil.rmtree(self.snapshots, ignore_errors=True)


def _like(parameter: Tensor, value: Tensor) -> Tensor:
    return value.to(parameter.device, parameter.dtype)
