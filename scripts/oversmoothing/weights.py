"""A model on disk: one safetensors file that holds the weights and, in its header, the shape."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from oversmoothing.jobs import UserError, check_settings
from oversmoothing.model import GPT, GPTConfig
from oversmoothing.store.atomic import atomic_path


def save_tensors(path: str | Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors to a safetensors file, atomically; equal tensors and metadata give equal files."""
    with atomic_path(path) as temporary:
        contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        save_file(contiguous, temporary, dict(metadata))
        _sort_header(temporary)


def load_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read a safetensors file: its tensors and its metadata.

    Raises
    ------
    UserError
        If the file is missing or damaged.
    """
    metadata = load_metadata(path)
    try:
        return load_file(path), metadata
    except (SafetensorError, OSError) as error:
        raise _damaged(path, error) from error


def load_metadata(path: str | Path) -> dict[str, str]:
    """Read only the metadata of a safetensors file (errors as `load_tensors`)."""
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (SafetensorError, OSError, struct.error) as error:
        raise _damaged(path, error) from error
    check_settings(path, metadata)
    return metadata


def save_model(path: str | Path, config: GPTConfig, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write a GPT's weights with its config in the header, so that the file alone rebuilds the model."""
    save_tensors(path, tensors, {**metadata, "config": json.dumps(vars(config), sort_keys=True)})


def load_model(path: str | Path, device: torch.device | str = "cpu") -> GPT:
    """Rebuild a GPT from the file that `save_model` wrote, ready for inference.

    Raises
    ------
    UserError
        If the file is missing, damaged, not written by this project, or its tensors do not fit its config.
    """
    tensors, metadata = load_tensors(path)
    if "config" not in metadata:
        raise UserError(f"{path}: no model config in its metadata; it was not written by this project")
    model = GPT(GPTConfig.from_dict(json.loads(metadata["config"])))
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise UserError(f"{path}: its tensors are not those of its config: {error}") from error
    return model.eval().to(device)


def _sort_header(path: Path) -> None:
    """Sort the header's keys in place: the library writes metadata in an order that changes from run to run."""
    with path.open("r+b") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.dumps(json.loads(file.read(length)), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        file.seek(8)
        file.write(header.encode().ljust(length))


def _damaged(path: str | Path, error: Exception) -> UserError:
    return UserError(f"{path}: not a complete safetensors file ({error}); delete it and run again")
