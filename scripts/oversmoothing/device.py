"""Where tensors live and in which precision matrices are multiplied."""

import os

import torch

from oversmoothing.jobs import UserError


def choose_device(name: str) -> torch.device:
    """Turn ``auto``, ``cpu`` or ``cuda`` into a device; ``auto`` takes a GPU where there is one.

    Raises
    ------
    UserError
        If ``cuda`` is asked for and PyTorch sees no GPU.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError("device: cuda is set in the config, but PyTorch sees no GPU here; use auto or cpu")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def choose_precision(name: str, device: torch.device) -> str:
    """Turn ``auto``, ``bf16`` or ``float32`` into a precision.

    ``auto`` takes bf16 only where the hardware multiplies it: a GPU from Ampere on, or a processor with AMX.
    On other processors bf16 is slower than float32, AVX512-BF16 included.
    """
    if name != "auto":
        return name
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    return "bf16" if torch.cpu.get_capabilities().get("amx_bf16", False) else "float32"


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """Return the context in which a forward pass runs at `precision`; weights stay float32."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16")


def make_deterministic(device: torch.device, threads: int) -> None:
    """Fix what would let two equal runs differ: the number of threads and, on a GPU, racing reductions.

    The threads come from the config and not from the job, because Snakemake lowers a job's threads to what it
    was given and another number of threads sums in another order.
    """
    torch.set_num_threads(threads)
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
