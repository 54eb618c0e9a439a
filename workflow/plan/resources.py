"""Resources of jobs: memory in MB, time in minutes, threads, GPUs, and the signal that stops a training in time."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from oversmoothing.hub.gguf_parts import parts_of
from oversmoothing.models.gpt_shape import block_matrices, cache_bytes, checkpoint_bytes, matrices_without_bottleneck
from plan.assets import weight_bytes
from plan.model_types import ByBytes, Hub, Model, Trained
from plan.tokens import over_bytes

DAY = 1440  # minutes
CONVERTED = 12  # bytes of memory for a byte of GGUF: float32 has eight times the bits of most, and there are copies


def scaled(resource: int, attempt: int) -> int:
    """Return the resource of an attempt, half as much again for each retry.

    So a job short of memory or time gets more.
    """
    return resource * (1 + attempt) // 2


def per_attempt(**resources: int) -> dict[str, Callable[[Any, int], int]]:
    """Return resources of a rule, by name, as functions of the attempt (see `scaled`)."""

    def of(resource: int) -> Callable[[Any, int], int]:
        return lambda wildcards, attempt: scaled(resource, attempt)

    return {name: of(resource) for name, resource in resources.items()}


def gpus(config: Mapping[str, Any]) -> int:
    """Return the number of GPUs requested by a job that computes with PyTorch; 0 if it would not use one."""
    seen = Path("/dev/nvidia0").exists()
    return int(config["device"] == "cuda" or (config["device"] == "auto" and seen))


def scoring(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return where models are scored: ``device``, its ``gpus``, and ``code`` imported for it.

    Of bytes that is a processor, without PyTorch; of tokens a GPU where there is one.
    """
    if over_bytes(config):
        return {"device": "cpu", "gpus": 0, "code": []}
    return {"device": config["device"], "gpus": gpus(config), "code": ["oversmoothing/models/on_gpu.py"]}


def training_memory(model: Trained, attempt: int = 1) -> int:
    """Return the estimated memory of a training in MB.

    Weights, gradients, moments and their saved copies, and 3 GB for PyTorch and activations, in each process.
    """
    needed = 32 * matrices_without_bottleneck(model.shape)  # bytes of eight numbers a weight
    return scaled(model.processes * (3000 + needed // 10**6), attempt)


def training_time(config: Mapping[str, Any], model: Trained) -> int:
    """Return a generous estimate of the time of a training in minutes, at most a day.

    Six floating-point operations per weight and byte, at a third of the speed of a 2020 GPU on models this small, or at
    the speed of one CPU thread. A training that reaches its limit saves its state, and its retry continues from there,
    so a retry needs no more time, and long trainings need retries, not a queue that admits jobs of weeks.
    """
    training, shape = model.settings["training"], model.shape
    seen = training["max_steps"] * training["accumulation"] * training["batch"] * shape["block"]
    speed = model.processes * (3e13 if gpus(config) else 1e10 * training["threads"])
    return min(DAY, 30 + round(6 * matrices_without_bottleneck(shape) * seen / speed / 60))


def stop_signal(model: Trained) -> str:
    """Return the SLURM option that sends SIGTERM to a training before its time limit.

    It is sent two minutes before, and one minute more per GB to save.
    """
    return f"--signal=TERM@{120 + 60 * round(checkpoint_bytes(model.shape) / 10**9)}"


def sampling_memory(config: Mapping[str, Any], model: Model, attempt: int = 1) -> int:
    """Return the estimated memory of sampling in MB: keys and values of a batch, weights, and 2 GB for PyTorch."""
    if isinstance(model, Hub):
        return scaled(hub_truth_memory(config), attempt)
    shape = model.shape or config["model"]
    length = config["windows"]["prompt"] + config["windows"]["scored"]
    cached = cache_bytes(shape["layers"], shape["width"], length) * config["samples"]["batch"]
    return scaled(2000 + (2 * cached + 4 * block_matrices(shape)) // 10**6, attempt)


def hub_truth_memory(config: Mapping[str, Any]) -> int:
    """Return the memory in MB for a truth from the hub: EvaByte's 6.5 billion weights, in float32 on a CPU."""
    return 20_000 if gpus(config) else 32_000


def byte_view_memory(config: Mapping[str, Any], model: ByBytes, attempt: int = 1) -> int:
    """Return the estimated memory of a byte view in MB: float32 weights, 2 MB a scored byte, and 2 GB for PyTorch.

    Weights on the hub mostly take two bytes each. Until they are listed, 16 GB are requested.
    """
    stored = _stored(config, model)
    if stored is None:
        return scaled(16_000, attempt)
    return scaled(2000 + 3 * stored // 10**6 + 2 * config["windows"]["scored"], attempt)


def byte_view_operations(config: Mapping[str, Any], model: ByBytes) -> int | None:
    """Return the estimated operations of a byte view over all windows; None until its weights are listed.

    Two per weight and token of a window's tree: one token for four bytes that are only read, and one a scored byte.
    """
    stored = _stored(config, model)
    windows = config["windows"]
    read = model.settings["context"] + windows["prompt"]
    return None if stored is None else stored * windows["count"] * (read // 4 + windows["scored"])


def byte_view_time(config: Mapping[str, Any], model: ByBytes) -> int:
    """Return a generous estimate of a byte view's time in minutes, at most a day, at the speeds of `training_time`."""
    operations = byte_view_operations(config, model)
    speed = 3e13 if gpus(config) else 1e10 * config["inference"]["threads"]
    return 240 if operations is None else min(DAY, 30 + round(operations / speed / 60))


def _stored(config: Mapping[str, Any], model: ByBytes) -> int | None:
    """Return the number of bytes of the weights of a model from the hub."""
    return weight_bytes(f"{config['assets'].rstrip('/')}/{model.settings['asset']}.json")


def asset_memory(source: Mapping[str, Any], attempt: int = 1) -> int:
    """Return the estimated memory in MB of what fetches or makes an asset (`assets.by_name`).

    It holds PyTorch and float32 weights.
    """
    if "package" in source:
        return scaled(3000 if "parts" not in source else 6000, attempt)
    if "gguf" not in source:
        return scaled(500, attempt)
    size = sum(part.stat().st_size for part in parts_of(source["gguf"]) if part.is_file())
    return scaled(1500 + CONVERTED * size // 10**6, attempt)
