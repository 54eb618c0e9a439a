"""Where tensors live and in which precision matrices are multiplied."""

import os
import shutil
from importlib.util import find_spec

import torch

from oversmoothing.jobs import UserError


def choose_device(name: str, index: int = 0) -> torch.device:
    """Turn ``auto``, ``cpu`` or ``cuda`` into a device; ``auto`` takes a GPU where there is one.

    Parameters
    ----------
    name : str
    index : int
        Which GPU of this machine, for processes that train together.

    Raises
    ------
    UserError
        If ``cuda`` is asked for and PyTorch sees no GPU, or if there is no GPU of that index.
    """
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
    """Turn ``auto``, ``bf16`` or ``float32`` into a precision.

    ``auto`` takes bf16 only where the hardware multiplies it faster: a GPU from Ampere on, a processor with AMX, or
    one of AMD's with AVX512-BF16, which there is twice as fast as float32. On others bf16 is slower than float32.
    """
    if name != "auto":
        return name
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    processor = torch.cpu.get_capabilities()
    amd = processor.get("avx512_bf16", False) and str(processor.get("cpu_name", "")).startswith("AMD")
    return "bf16" if processor.get("amx_bf16", False) or amd else "float32"


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """Return the context in which a forward pass runs at `precision`; weights stay float32."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16")


def choose_compile(value: str | bool, device: torch.device) -> bool:
    """Turn ``auto``, true or false into whether ``torch.compile`` makes one program of a model.

    ``auto`` compiles on a GPU whose PyTorch has Triton, where there is a C compiler for it; on a processor it gains a
    few per cent only and takes half a minute to start.

    Raises
    ------
    UserError
        If it is asked for where it cannot work.
    """
    if value is False:
        return False
    if device.type == "cuda":
        missing = [] if find_spec("triton") else ["Triton"]
        missing += [] if _has_compiler("CC", ("cc", "gcc", "clang")) else ["a C compiler"]
    else:
        missing = [] if _has_compiler("CXX", ("g++", "clang++")) else ["a C++ compiler"]
    if value is True and missing:
        raise UserError(f"training.compile: true needs {' and '.join(missing)}; install it, or set auto or false")
    return value is True or (device.type == "cuda" and not missing)


def allow_tf32(device: torch.device) -> None:
    """Let a GPU multiply float32 matrices with TF32's 10 bits: for training, never for logits that are measured."""
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")


def make_deterministic(device: torch.device, threads: int) -> None:
    """Fix what would let two equal runs differ: the number of threads and, on a GPU, racing reductions.

    The threads come from the config and not from the job, because Snakemake lowers a job's threads to what it
    was given and another number of threads sums in another order.
    """
    torch.set_num_threads(threads)
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)


def _has_compiler(variable: str, names: tuple[str, ...]) -> bool:
    return any(shutil.which(name) for name in (os.environ.get(variable, ""), *names) if name)
