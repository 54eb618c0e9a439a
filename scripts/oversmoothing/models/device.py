"""Device, precision and determinism of PyTorch computations."""

import os
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

import torch

from oversmoothing.jobs import UserError


class Compute(NamedTuple):
    """Device and precision of matrix products ("bf16" or "float32") of a script."""

    device: torch.device
    precision: str

    @property
    def facts(self) -> dict[str, str]:
        """Entries ``precision`` and ``device`` of a file's provenance."""
        return {"precision": self.precision, "device": self.device.type}


def setup(device: str, settings: Mapping[str, Any], index: int = 0) -> Compute:
    """Make PyTorch deterministic with ``threads``; return the device, GPU `index`, and ``precision`` of a script."""
    chosen = choose_device(device, index)
    make_deterministic(chosen, settings["threads"])
    return Compute(chosen, choose_precision(settings["precision"], chosen))


def choose_device(name: str, index: int = 0) -> torch.device:
    """Return the device for the setting ``auto``, ``cpu`` or ``cuda``; raise a `UserError` if there is no such GPU."""
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError("device: cuda is set in the config, but PyTorch sees no GPU here; use auto or cpu")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cpu":
        return torch.device(name)
    if index >= torch.cuda.device_count():
        raise UserError(
            f"training.processes asks for {index + 1} or more GPUs on this machine, but PyTorch sees "
            f"{torch.cuda.device_count()}; lower it"
        )
    torch.cuda.set_device(index)
    return torch.device(name, index)


def choose_precision(name: str, device: torch.device) -> str:
    """Return the precision for the setting ``auto``, ``bf16`` or ``float32``.

    ``auto`` is bf16 only where it is faster: on GPUs from Ampere on, processors with AMX, and AMD's with AVX512-BF16.
    """
    if name != "auto":
        return name
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    processor = torch.cpu.get_capabilities()
    amd = processor.get("avx512_bf16", False) and str(processor.get("cpu_name", "")).startswith("AMD")
    return "bf16" if processor.get("amx_bf16", False) or amd else "float32"


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """Return the context in which a forward pass runs at `precision`; the weights stay float32."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16")


def choose_compile(value: str | bool, device: torch.device) -> bool:
    """Return whether a model is compiled, from ``auto``, true or false.

    ``auto`` compiles on a GPU if it can. On a CPU, compilation takes half a minute and gains only a few per cent.
    """
    if value != "auto":
        return bool(value)
    compilers = (os.environ.get("CC"), "cc", "gcc", "clang")
    return device.type == "cuda" and bool(find_spec("triton")) and any(shutil.which(name) for name in compilers if name)


def allow_tf32(device: torch.device) -> None:
    """Allow TF32 products of float32 matrices on a GPU; for training only, never for logits that are measured."""
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")


def make_deterministic(device: torch.device, threads: int) -> None:
    """Fix the order of sums: by the config's number of threads, not by a job's, which Snakemake lowers to the cores."""
    torch.set_num_threads(threads)
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
