"""What jobs ask for: memory in MB, time in minutes, threads, GPUs, and the signal that ends a training in time."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from oversmoothing.gpt_shape import (
    block_matrices,
    cache_bytes,
    checkpoint_bytes,
    flops_per_byte_without_attention,
    training_bytes,
)
from plan.models import Model, by_name

DAY = 1440  # minutes


def scaled(resource: int, attempt: int) -> int:
    """Resource of an attempt, half as much again with each: what lacked memory or time is retried with more."""
    return resource * (1 + attempt) // 2


def per_attempt(**resources: int) -> dict[str, Callable[[Any, int], int]]:
    """Resources of a rule, by name, as functions of the attempt (see `scaled`)."""

    def of(resource: int) -> Callable[[Any, int], int]:
        return lambda wildcards, attempt: scaled(resource, attempt)

    return {name: of(resource) for name, resource in resources.items()}


def gpus(config: Mapping[str, Any]) -> int:
    """Number of GPUs that a job which computes with PyTorch asks for: none where it would not use one."""
    seen = Path("/dev/nvidia0").exists()
    return int(config["device"] == "cuda" or (config["device"] == "auto" and seen))


def training_memory(model: Model, attempt: int = 1) -> int:
    """Estimated memory of a training in MB.

    Weights, gradients, moments and what is saved of them, and 3 GB for PyTorch and activations; all in each process.
    """
    return scaled(model.processes * (3000 + training_bytes(_shape(model)) // 10**6), attempt)


def training_time(config: Mapping[str, Any], model: Model) -> int:
    """Estimated time of a training in minutes, generous, but no more than a day.

    Six floating-point operations per weight and byte, at a third of what a GPU of 2020 achieves on models this small,
    or at the speed of one CPU thread. A training that reaches its limit saves, and its retry continues from there: so a
    retry needs no more time, and a longer training needs retries rather than a queue that admits jobs of weeks.
    """
    training, shape = (model.settings or {})["training"], _shape(model)
    seen = training["max_steps"] * training["accumulation"] * training["batch"] * shape["block"]
    speed = model.processes * (3e13 if gpus(config) else 1e10 * training["threads"])
    return min(DAY, 30 + round(flops_per_byte_without_attention(shape) * seen / speed / 60))


def training_threads(model: Model) -> int:
    """Number of CPU threads of a training, in all its processes."""
    return model.processes * (model.settings or {})["training"]["threads"]


def stop_signal(model: Model) -> str:
    """SLURM option that sends SIGTERM to a training before its time is up: two minutes, and one per GB it saves."""
    return f"--signal=TERM@{120 + 60 * round(checkpoint_bytes(_shape(model)) / 10**9)}"


def sampling_memory(config: Mapping[str, Any], model: Model, attempt: int = 1) -> int:
    """Estimated memory of sampling in MB: keys and values of a batch, weights, and 2 GB for PyTorch."""
    own = model if model.settings or not model.source else by_name(config)[model.source]
    shape = (own.settings or {"model": config["model"]})["model"]
    length = config["windows"]["prompt"] + config["windows"]["scored"]
    cached = cache_bytes(shape["layers"], shape["width"], length) * config["samples"]["batch"]
    return scaled(2000 + (2 * cached + 4 * block_matrices(shape)) // 10**6, attempt)


def hub_truth_memory(config: Mapping[str, Any]) -> int:
    """Memory in MB for a truth from the hub: EvaByte's 6.5 billion weights, in float32 on a CPU."""
    return 20_000 if gpus(config) else 32_000


def _shape(model: Model) -> dict[str, Any]:
    """Shape of a model that is trained here."""
    return (model.settings or {})["model"]
