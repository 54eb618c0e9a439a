"""The learning rate of each step, without PyTorch."""

import math
from collections.abc import Mapping
from typing import Any

STABLE = "stable"  # a `decay`: the rate stays at its peak until the last steps, which may branch off a longer training

OF_LENGTH = ("max_steps", "decay_share", "states")  # settings in which trainings that branch off one may differ


def learning_rate(step: int, settings: Mapping[str, Any]) -> float:
    """Return the learning rate of a step: a linear warm-up, then a decay to the minimum at `max_steps`.

    The decay is linear or a cosine; under `STABLE` it is linear and begins at `decay_begins`.
    """
    peak, least = settings["learning_rate"], settings["minimum_learning_rate"]
    warmup, last = settings["warmup_steps"], settings["max_steps"]
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    first = decay_begins(settings) if settings["decay"] == STABLE else warmup
    progress = min(1.0, max(0, step - first) / max(1, last - first))
    left = 0.5 * (1 + math.cos(math.pi * progress)) if settings["decay"] == "cosine" else 1 - progress
    return least + left * (peak - least)


def decay_begins(settings: Mapping[str, Any]) -> int:
    """Return the number of steps after which the rate begins to fall under `STABLE`: all but a share of them."""
    last = settings["max_steps"]
    return int(last - round(settings["decay_share"] * last))


def but_for_length(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a training without those of its length: what trainings share that branch off one."""
    training = {key: value for key, value in settings.get("training", {}).items() if key not in OF_LENGTH}
    return {**settings, "training": training}
