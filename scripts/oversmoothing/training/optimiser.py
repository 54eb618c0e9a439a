"""AdamW with the settings of GPT-2, its learning rate at each step, and the head's share of it."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from oversmoothing.models.model import GPT
from oversmoothing.training.schedule import learning_rate


def build_optimiser(
    model: nn.Module, settings: Mapping[str, Any], rates: Mapping[str, float] | None = None
) -> torch.optim.AdamW:
    """Return AdamW with weight decay of matrices but not of LayerNorm gains (thesis 3.3, footnote 1).

    `rates` are the factors by which some parameters learn faster, by name (see `head_rates`); these decay as fast as
    the others do.
    """
    rates = rates or {}
    groups: dict[tuple[bool, float], list[nn.Parameter]] = {(True, 1.0): [], (False, 1.0): []}
    for name, parameter in model.named_parameters():
        groups.setdefault((parameter.dim() >= 2, rates.get(name, 1.0)), []).append(parameter)
    return torch.optim.AdamW(
        [
            {"params": members, "weight_decay": settings["weight_decay"] / rate if decayed else 0.0, "rate": rate}
            for (decayed, rate), members in groups.items()
        ],
        lr=settings["learning_rate"],
        betas=tuple(settings["betas"]),
        fused=True,
    )


def set_learning_rate(optimiser: torch.optim.Optimizer, step: int, settings: Mapping[str, Any]) -> None:
    """Set the learning rate of a step for every group of `build_optimiser`."""
    for group in optimiser.param_groups:
        group["lr"] = learning_rate(step, settings) * group["rate"]


def head_rates(model: GPT, settings: Mapping[str, Any]) -> dict[str, float]:
    """Return factors by which the head's matrices learn faster than the rest, by name: 1 or ``width / inputs``.

    It is the latter behind a bottleneck if ``settings["head_rate"]`` is "scaled". The inputs of a linear head are r. A
    step of AdamW moves every weight by about the learning rate, and a logit, the sum of r products, by about r times
    that; so the logits of all ranks move equally (Yang et al. 2022, table 3: output weights under Adam).
    """
    scaled, width = settings["head_rate"] == "scaled" and model.config.rank, model.config.width
    of_head = {name: weight for name, weight in model.named_parameters() if name.startswith(("head.", "output."))}
    return {name: width / weight.shape[1] if scaled else 1.0 for name, weight in of_head.items() if weight.dim() == 2}
