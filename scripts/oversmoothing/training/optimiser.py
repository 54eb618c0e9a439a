"""AdamW with the settings of GPT-2, and its learning-rate schedule."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn


def build_optimiser(model: nn.Module, settings: Mapping[str, Any]) -> torch.optim.AdamW:
    """AdamW with weight decay of matrices but not of LayerNorm gains (thesis 3.3, footnote 1)."""
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    return torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": settings["weight_decay"]},
            {"params": others, "weight_decay": 0.0},
        ],
        lr=settings["learning_rate"],
        betas=tuple(settings["betas"]),
        fused=True,
    )


def learning_rate(step: int, settings: Mapping[str, Any]) -> float:
    """Learning rate of a step: linear warm-up, then a cosine decay that reaches the minimum at `max_steps`."""
    peak, least = settings["learning_rate"], settings["minimum_learning_rate"]
    warmup, last = settings["warmup_steps"], settings["max_steps"]
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    progress = min(1.0, (step - warmup) / max(1, last - warmup))
    return least + 0.5 * (1 + math.cos(math.pi * progress)) * (peak - least)
