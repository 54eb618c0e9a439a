"""One optimiser step, by one process or by several on slices of the same batch."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from oversmoothing.jobs import UserError
from oversmoothing.models.device import autocast
from oversmoothing.models.head_gradient import best_approximation
from oversmoothing.models.model import GPT
from oversmoothing.training.batches import (
    Whole,
    dropout_seed,
    inputs_and_targets,
    share_of,
    training_batch,
    validation_batches,
    whole_batch,
)
from oversmoothing.training.group import Group
from oversmoothing.training.objectives import losses_under
from oversmoothing.training.optimiser import build_optimiser, head_rates, set_learning_rate


class Step:
    """Optimiser steps of one process: the model, its optimiser, and this process's share of the batch."""

    def __init__(
        self,
        model: GPT,
        settings: Mapping[str, Any],
        seed: int,
        precision: str,
        group: Group,
        whole: Whole | None = None,
    ) -> None:
        self.model = model
        self.whole = whole
        self.settings = settings
        self.seed = seed
        self.precision = precision
        self.group = group
        self.optimiser = build_optimiser(model, settings, head_rates(model, settings))
        self.losses = losses_under(settings["objective"])
        self.share = share_of(settings["accumulation"], settings["batch"], group.number, group.size)
        rank = settings["backward_rank"]
        if model.output is not None and rank is not None:
            raise UserError(
                f"training.backward_rank: {rank} needs a linear head, not output: {model.config.output}; leave one out"
            )
        if rank is not None and rank < min(model.head.weight.shape):
            model.backward_head = torch.zeros_like(model.head.weight, requires_grad=False)
        self._replica = group.replicate(model)

    def draw(self, data: np.ndarray, step: int) -> Tensor:
        """Draw this process's share of the batch of a step: bytes (micro-batches, sequences, block + 1)."""
        sizes = (self.settings["accumulation"], self.settings["batch"])
        if self.whole:
            drawn = whole_batch(data, self.seed, step, *sizes, self.whole.length)
        else:
            drawn = training_batch(data, self.seed, step, *sizes, self.model.config.block)
        return drawn[self.share.micros.start :: self.share.micros.step, self.share.rows]

    def take(self, sequences: Tensor, step: int) -> Tensor:
        """Update the weights after `step` steps by sequences of `draw`; return the loss of the global batch.

        That is the loss under the objective, not always the cross-entropy.
        """
        set_learning_rate(self.optimiser, step, self.settings)
        if self.model.backward_head is not None and step % self.settings["backward_interval"] == 0:
            self.model.backward_head.copy_(best_approximation(self.model.head.weight, self.settings["backward_rank"]))
        total = torch.zeros((), device=sequences.device)
        micros = self.share.micros
        for micro, batch in zip(micros, sequences, strict=True):
            if self.model.config.dropout:
                torch.manual_seed(dropout_seed(self.seed, step, micro, self.group.number))
            last = micro == micros[-1]
            with nullcontext() if last else self.group.accumulating(self._replica):
                loss = batch_loss(self._replica, batch, self.precision, self.whole, self.losses) / len(micros)
                loss.backward()
            total += loss.detach()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings["clip"])
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return self.group.mean(total)


@torch.no_grad()
def validation_loss(
    model: GPT,
    data: np.ndarray,
    settings: Mapping[str, Any],
    precision: str,
    group: Group | None = None,
    whole: Whole | None = None,
) -> float:
    """Return the mean cross-entropy in nats per byte over `evaluation_batches` fixed batches of `data`."""
    group = group or Group()
    device = model.head.weight.device
    model.eval()
    total = torch.zeros((), dtype=torch.float64, device=device)
    batches = validation_batches(data, settings["evaluation_batches"], settings["batch"], model.config.block, whole)
    for batch in batches[group.number :: group.size]:
        total += batch_loss(model, batch.to(device), precision, whole)
    model.train()
    return group.mean(total).item() * group.size / len(batches)


def batch_loss(
    model: nn.Module,
    sequences: Tensor,
    precision: str,
    whole: Whole | None = None,
    losses: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> Tensor:
    """Return the mean cross-entropy in nats per byte of sequences (batch, block + 1) on the model's device.

    Of `Whole` sequences (batch, length) it is that of the bytes after the prompt. With `losses`, the losses (n,) of
    logits (n, v) and targets (n,) under another objective, it is their mean.
    """
    inputs, targets = inputs_and_targets(sequences)
    given = whole.prompt - 1 if whole else 0  # targets that are not to be predicted
    with autocast(sequences.device, precision):
        logits = model(inputs)[..., given:, :]
    flat, following = logits.flatten(0, -2), targets[:, given:].flatten()
    return F.cross_entropy(flat, following) if losses is None else losses(flat, following).mean()
