"""Full models on the trunks of others, and the part of each that learns on."""

import math
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from oversmoothing.jobs import UserError
from oversmoothing.models.model import GPT
from oversmoothing.training.batches import prefetch
from oversmoothing.training.group import Group
from oversmoothing.training.step import Step
from studies.narrow_trunk.parts import ALL, HEAD, LAST_BLOCK

TRUNK = ("embedding.", "position_embedding.", "blocks.")  # how names of its weights begin


def graft(trunk: GPT, seed: int, initial: str) -> GPT:
    """Return a full model with the embedding and the blocks of another; its last LayerNorm and its head are new.

    The new weights are functions of `seed` and `initial`, as those of any `GPT`.
    """
    model = GPT(replace(trunk.config, rank=None, bottleneck_norm="after"), seed, initial)
    taken = {name: weight for name, weight in trunk.state_dict().items() if name.startswith(TRUNK)}
    model.load_state_dict(model.state_dict() | taken)
    return model.to(trunk.head.weight.device)


def let_learn(model: GPT, part: str) -> None:
    """Let the weights of one part learn and freeze all others."""
    head = ("norm.", "head.")
    learning = {HEAD: head, LAST_BLOCK: (*head, f"blocks.{len(model.blocks) - 1}."), ALL: ("",)}[part]
    for name, weight in model.named_parameters():
        weight.requires_grad_(name.startswith(learning))


def learn_on(model: GPT, training: np.ndarray, settings: Mapping[str, Any], seed: int, precision: str) -> Iterator[int]:
    """Train the weights that may learn; yield each number of steps in ``steps`` when so many have been taken.

    `settings` are those of a training, with increasing ``steps`` in place of ``max_steps``. The learning rate falls to
    its minimum at the last of them, so losses before it are not those of a finished training. The model is in
    evaluation mode whenever this yields.
    """
    stops = settings["steps"]
    step = Step(model, {**settings, "max_steps": stops[-1]}, seed, precision, Group())
    device = model.head.weight.device
    model.train()
    with closing(prefetch(partial(step.draw, training), range(stops[-1]), device)) as batches:
        for taken, batch in enumerate(batches, 1):
            loss = step.take(batch, taken - 1)
            if taken in stops:
                if not math.isfinite(loss.item()):
                    raise UserError(f"the loss is not a number at step {taken}; lower narrow_trunk.learning_rate")
                model.eval()
                yield taken
                model.train()
