"""Heads at the optimum of their loss on a frozen trunk, so that neither start nor budget of a training counts.

Of a full head the cross-entropy is convex in its weights (a multinomial logistic regression on the states), so L-BFGS
ends at its one minimum. Of a head W = A B it is not: the end may depend on the start, which is the truncated head.
"""

import logging
import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import trange

from oversmoothing.jobs import UserError
from oversmoothing.models.model import GPT
from oversmoothing.training.batches import training_batch, validation_batches
from studies.imposed_rank.heads import NAMES, entering, initial, validation_loss, whole

logger = logging.getLogger(__name__)

REMEMBERED = 20  # steps from which L-BFGS knows the curvature
ROUNDING = 1e-10  # of the largest mean square in a direction: less is rounding of float32 states
FLAT = 1e-6  # nats that a round of iterations must gain, or the loss counts as minimal


def optimise(
    model: GPT, training: np.ndarray, validation: np.ndarray, settings: Mapping[str, Any], precision: str
) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """Return the head of the lowest loss on `sequences` of the training text, and its history, as `heads.retrain` does.

    The search ends where `evaluation_interval` iterations gain less than `FLAT`, and the last head is returned,
    whatever its validation loss.
    """
    block, device = model.config.block, model.head.weight.device
    if len(training) <= block:
        raise UserError(f"the training split has {len(training)} bytes, which is not more than block: {block}")
    sequences = validation_batches(validation, settings["evaluation_batches"], settings["batch"], block)
    states_of = partial(entering, model, settings["reads"], precision)
    held_out = [states_of(batch) for batch in sequences.to(device)]
    read = training_batch(training, settings["seed"], 0, 1, settings["sequences"], block)[0]
    chunks = []
    for batch in read.to(device).split(settings["batch"]):
        states, targets = states_of(batch)
        chunks.append((states.flatten(0, 1), targets.flatten()))
    head = initial(whole(model, settings["reads"]), settings["rank"], settings["norm"], chunks[0][0])
    # In coordinates in which the states are as large in every direction, L-BFGS needs far fewer iterations.
    into, back = _whitening([states for states, _ in chunks])
    chunks = [(states.double() @ into, of) for states, of in chunks]
    head.double()
    first = head[0].get_parameter("weight")
    first.data = first.data @ back
    for weights in head.parameters():
        weights.data = weights.data.contiguous()  # L-BFGS takes views of their gradients
    positions = sum(len(targets) for _, targets in chunks)
    search = torch.optim.LBFGS(
        head.parameters(),
        max_iter=settings["evaluation_interval"],
        max_eval=2 * settings["evaluation_interval"],
        history_size=REMEMBERED,
        tolerance_grad=0.0,
        tolerance_change=0.0,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Tensor:
        search.zero_grad()
        total = torch.zeros((), device=device, dtype=torch.float64)
        for states, targets in chunks:
            loss = F.cross_entropy(head(states), targets, reduction="sum") / positions
            loss.backward()
            total += loss.detach()
        return total

    def unwhitened() -> nn.Sequential:
        plain = deepcopy(head)
        plain[0].get_parameter("weight").data = first.detach() @ into.T
        return plain.float()

    history: list[dict[str, Any]] = []

    def evaluate(step: int) -> None:
        loss, held = closure().item(), validation_loss(unwhitened(), held_out)
        if not math.isfinite(loss):
            raise UserError(f"the loss is not a number after {step} iterations ({loss}); raise retrained.sequences")
        history.append({"step": step, "bytes": positions, "train_loss": loss, "validation_loss": held})
        logger.info("iteration %d: training loss %.5f, validation loss %.4f", step, loss, held)

    evaluate(0)
    for step in trange(0, settings["max_steps"], settings["evaluation_interval"], unit="round", disable=None):
        search.step(closure)
        evaluate(step + settings["evaluation_interval"])
        if history[-2]["train_loss"] - history[-1]["train_loss"] < FLAT:
            break
    return {NAMES[name]: tensor.clone() for name, tensor in unwhitened().state_dict().items()}, history


def _whitening(states: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return the map (d, k) of states to coordinates of mean square 1, and that of weights on them; in float64.

    Directions in which states have nothing but rounding, as behind a LayerNorm one has, are left out: a head that is
    driven to its optimum would fit it.
    """
    moments = torch.stack([part.double().T @ part.double() / len(part) for part in states]).mean(dim=0)
    squares, directions = torch.linalg.eigh(moments)
    kept = squares > ROUNDING * squares.max()
    roots = squares[kept].sqrt()
    return directions[:, kept] / roots, directions[:, kept] * roots
