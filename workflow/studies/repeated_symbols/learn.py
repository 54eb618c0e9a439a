"""Models that learn the language of repeated symbols, and their loss along training.

A sequence is one of v symbols, drawn uniformly and repeated (Godey and Artzi 2026, their SpamLang). All that there is
to learn is that a symbol follows itself. Positions are rotary and leave values as they are, so attention over equal
symbols returns their common value: a sequence of any length has the loss and the gradient of a single token.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.training.group import Group
from oversmoothing.training.step import Step
from studies.repeated_symbols.arms import ARMS, batch

# Weights do not decay: between two draws of a symbol they would decay the more the more symbols there are. The rate
# stays as it is after the warm-up, so that no loss depends on when a training ends.
RECIPE = {
    "accumulation": 1,
    "clip": math.inf,
    "head_gradient": "whole",
    "head_rate": "same",
    "objective": {"name": "cross-entropy"},
    "weight_decay": 0.0,
    "betas": (0.9, 0.95),
    "decay": "linear",
}
POINTS = 4  # evaluations from a number of draws to its double


class LogitTable(nn.Module):
    """A table of logits (v, v) with a row for each symbol: no two symbols share a weight."""

    backward_head = None
    output = None

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.head = nn.Embedding(config.vocabulary, config.vocabulary)
        nn.init.zeros_(self.head.weight)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map tokens (batch, time) to logits (batch, time, v)."""
        logits: Tensor = self.head(tokens)
        return logits


def build(kind: str, v: int, length: int, seed: int, settings: Mapping[str, Any]) -> nn.Module:
    """Return a new model for v symbols in sequences of `length` tokens.

    "plain" has a head W = A B; "alone" learns its head on a trunk that stays as it starts; "unused" has as many classes
    as the largest vocabulary; "table" is a `LogitTable`. The others have a full head.
    """
    config = GPTConfig(
        layers=settings["layers"],
        heads=settings["heads"],
        width=settings["width"],
        block=length,
        rank=settings["rank"] if kind == "plain" else None,
        bottleneck_norm="before",
        positions="rotary",
        vocabulary=max(settings["vocabularies"]) if kind == "unused" else v,
    )
    if kind == "table":
        return LogitTable(config)
    model = GPT(config, seed, "fan_in")
    if kind == "alone":
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name == "head.weight")
    return model


def losses(
    name: str, v: int, seed: int, rate: float, settings: Mapping[str, Any], most: float = math.inf
) -> Iterator[tuple[int, float, float]]:
    """Yield step, draws per symbol and loss (nats) along the training of an arm, up to `most` draws.

    The loss is the mean over the same symbols at each point, all or `evaluated` of them. The training ends a quarter
    below the threshold, or after `draws` draws per symbol or `steps` steps. Symbols are a function of seed and v alone.
    """
    arm, size = ARMS[name], batch(name, v, settings)
    length = settings["length"] if arm.long else 1
    # One weight moves a logit of a table, as many as the width those of a head.
    peak = rate * settings["width"] if arm.kind == "table" else rate
    model = build(arm.kind, v, length, seed, settings)
    recipe = RECIPE | {
        "batch": size,
        "learning_rate": peak,
        "minimum_learning_rate": peak,
        "warmup_steps": settings["warmup_steps"],
        "max_steps": settings["steps"],
        "backward_rank": settings["rank"] if arm.kind == "backward" else None,
        "backward_interval": settings["backward_interval"],
    }
    step = Step(cast(GPT, model), recipe, seed, "float32", Group())
    drawn = torch.Generator().manual_seed(seed * 2**20 + v)
    symbols = torch.randperm(v, generator=torch.Generator().manual_seed(v))[: settings["evaluated"]]
    done = 0
    for point in points(v, size, settings):
        while done < point:
            sequences = torch.randint(v, (size, 1), generator=drawn).expand(size, length + 1)
            step.take(sequences[None], done)
            done += 1
        draws, loss = point * size / v, evaluate(model, symbols)
        yield point, draws, loss
        if draws >= most or loss <= settings["threshold"] * math.log(v) * 0.75:
            return


def points(v: int, size: int, settings: Mapping[str, Any]) -> list[int]:
    """Return the steps at which the loss is evaluated: 0, and at evenly spaced logarithms of the draws per symbol."""
    last = min(settings["steps"], settings["draws"] * v // size)
    spaced = (round(v / size * 2 ** (i / POINTS)) for i in range(-4 * POINTS, 20 * POINTS))
    return [0, *sorted({point for point in spaced if 0 < point < last}), last]


@torch.no_grad()
def evaluate(model: nn.Module, symbols: Tensor) -> float:
    """Return the mean loss in nats of symbols (n,), each after itself."""
    model.eval()
    loss = F.cross_entropy(model(symbols[:, None]).flatten(0, -2), symbols).item()
    model.train()
    return loss
