"""Heads trained on a frozen trunk: of lower rank, of two kinds, or full.

The head of Godey et al. (2024, section 5.1) is W = A B. Members of the family have a LayerNorm between their two
Linears: with it, a retrained head differs from a model learned from scratch in its training, but not its architecture.
"""

import logging
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import tqdm

from oversmoothing.jobs import UserError
from oversmoothing.models.device import autocast
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.predictor import head_matrix
from oversmoothing.training.batches import inputs_and_targets, prefetch, training_batch, validation_batches
from oversmoothing.training.schedule import learning_rate

logger = logging.getLogger(__name__)

HISTORY = pa.schema(
    [
        ("step", pa.int32()),
        ("bytes", pa.int64()),  # seen so far
        ("train_loss", pa.float64()),  # nats per byte, mean since the row before; null at step 0
        ("validation_loss", pa.float64()),  # nats per byte
    ]
)
BETAS = (0.9, 0.95)  # GPT-2's and the thesis's
NAMES = {"A.weight": "A", "B.weight": "B", "norm.weight": "norm", "head.weight": "head.weight"}  # in its file
SCHEDULE = {"decay": "cosine", "minimum_learning_rate": 0.0}


def factors(head: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """Split the best approximation of a rank to a head (v, d) into A = U S^1/2 (v, r) and B = S^1/2 V^T (r, d)."""
    u, s, vt = torch.linalg.svd(head.detach().double(), full_matrices=False)
    root = s[:rank].sqrt()
    return (u[:, :rank] * root).float(), (root[:, None] * vt[:rank]).float()


def whole(model: GPT, reads: str) -> Tensor:
    """Return a model's head as a matrix (v, d) over the states that it reads: ``post``, or ``pre`` its bottleneck."""
    head = head_matrix(model, "retrained")
    return head if reads == "post" else head @ model.bottleneck.get_parameter("weight")


def initial(head: Tensor, rank: int | None, norm: str, entering: Tensor) -> nn.Sequential:
    """Return a head that starts at the one given, or with a rank at its truncation.

    One with a rank is made of the modules of a GPT with that bottleneck: Linear(d -> r), Linear(r -> v), and with
    `norm` "after" a LayerNorm(r) between, as in a member of the family. Its gain is initialised to the spread of
    `entering` (n, d), a sample of the head's input, after the first Linear, so that the logits start at the truncated
    head's scale.
    """
    vocabulary, width = head.shape
    if rank is None:
        full = nn.Linear(width, vocabulary, bias=False, device=head.device)
        full.weight.data = head.detach().clone()
        return nn.Sequential(OrderedDict({"head": full}))
    gpt = GPT(GPTConfig(layers=0, heads=1, width=width, block=1, rank=rank, vocabulary=vocabulary)).to(head.device)
    a, b = factors(head, rank)
    gpt.head.weight.data, gpt.bottleneck.weight.data = a, b
    gpt.norm.weight.data.fill_(F.linear(entering, b).var(dim=1, correction=0).mean().sqrt().item())
    middle = {"norm": gpt.norm} if norm == "after" else {}
    return nn.Sequential(OrderedDict({"B": gpt.bottleneck, **middle, "A": gpt.head}))


def retrain(
    model: GPT, training: np.ndarray, validation: np.ndarray, settings: Mapping[str, Any], precision: str
) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """Train a head on the next-byte cross-entropy, with the model in front of it frozen.

    Training starts at the model's own head, or with a rank at its truncation (see `initial`), and keeps the best of all
    evaluations, including the initial one. Random factors reach the same loss, only later. There is no weight decay,
    which would pull W away from the minimum of the loss.

    `settings` is the `retrained` section of the config, with one ``rank``, None for a full head, one kind of ``norm``,
    and ``reads``: ``post``, what enters the model's head, or ``pre``, what enters its bottleneck. `precision` is that
    of the blocks, the head is float32. The result is the tensors of the head's file and the rows of `HISTORY`.
    """
    block, device = model.config.block, model.head.weight.device
    for name, data in (("training", training), ("validation", validation)):
        if len(data) <= block:
            raise UserError(f"the {name} split has {len(data)} bytes, which is not more than block: {block}")
    sequences = validation_batches(validation, settings["evaluation_batches"], settings["batch"], block)
    states_of = partial(entering, model, settings["reads"], precision)
    held_out = [states_of(batch) for batch in sequences.to(device)]  # once: the trunk stays as it is
    head = initial(whole(model, settings["reads"]), settings["rank"], settings["norm"], held_out[0][0].flatten(0, 1))
    optimiser = torch.optim.AdamW(head.parameters(), betas=BETAS, weight_decay=0.0, fused=True)
    history: list[dict[str, Any]] = []
    kept: dict[str, Tensor] = {}
    losses: list[Tensor] = []

    def evaluate(step: int) -> None:
        nonlocal kept
        loss = validation_loss(head, held_out)
        train_loss = torch.stack(losses).double().mean().item() if losses else None
        losses.clear()
        if not math.isfinite(loss):
            raise UserError(f"the loss is not a number at step {step} ({loss}); lower retrained.learning_rate")
        if not history or loss < min(row["validation_loss"] for row in history):
            kept = {NAMES[name]: tensor.clone() for name, tensor in head.state_dict().items()}
        seen = step * settings["batch"] * block
        history.append({"step": step, "bytes": seen, "train_loss": train_loss, "validation_loss": loss})
        logger.info("step %d: training loss %s, validation loss %.4f", step, train_loss, loss)

    evaluate(0)
    steps = range(settings["max_steps"])
    with closing(prefetch(partial(_draw, training, settings, block), steps, device)) as batches:
        for step, batch in enumerate(tqdm(batches, total=len(steps), unit="step", disable=None)):
            for group in optimiser.param_groups:
                group["lr"] = learning_rate(step, {**settings, **SCHEDULE})
            loss = _loss(head, *states_of(batch))
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            losses.append(loss.detach())
            if (step + 1) % settings["evaluation_interval"] == 0 or step + 1 == len(steps):
                evaluate(step + 1)
    return kept, history


def _draw(data: np.ndarray, settings: Mapping[str, Any], block: int, step: int) -> Tensor:
    return training_batch(data, settings["seed"], step, 1, settings["batch"], block)[0]


def _loss(head: nn.Module, states: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy, in nats per byte, of the bytes behind states (batch, block, d) under a head."""
    return F.cross_entropy(head(states).flatten(0, 1), targets.flatten())


@torch.no_grad()
def entering(model: GPT, reads: str, precision: str, sequences: Tensor) -> tuple[Tensor, Tensor]:
    """Return what enters a model's head (``post``) or its bottleneck (``pre``), and the bytes that follow.

    Of sequences of bytes (batch, block + 1) these are float32 states (batch, block, d) and bytes (batch, block).
    """
    inputs, targets = inputs_and_targets(sequences)
    with autocast(inputs.device, precision):
        pre, post = model.hidden(inputs)
    return {"pre": pre, "post": post}[reads].float(), targets


@torch.no_grad()
def validation_loss(head: nn.Module, held_out: Sequence[tuple[Tensor, Tensor]]) -> float:
    """Return the mean cross-entropy of a head, in nats per byte, over batches as `entering` gives them."""
    return torch.stack([_loss(head, *batch) for batch in held_out]).double().mean().item()
