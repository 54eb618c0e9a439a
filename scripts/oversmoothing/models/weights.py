"""Storage of a model as one safetensors file, with its shape in the header."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.store.tensors import open_tensors, stored, write_tensors


def save_tensors(path: str | Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors of float32 atomically and with a seal; equal tensors and metadata give equal files."""
    write_tensors(path, {name: stored(tensor.detach().cpu().numpy()) for name, tensor in tensors.items()}, metadata)


def load_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read the tensors and metadata of a safetensors file; errors are those of `open_tensors`."""
    with open_tensors(path, "pt") as (file, metadata):
        return {name: file.get_tensor(name) for name in file.keys()}, metadata  # noqa: SIM118 (not a dict)


def load_metadata(path: str | Path) -> dict[str, str]:
    """Read the metadata of a safetensors file, without its seal and without the tensors."""
    with open_tensors(path) as (_, metadata):
        return metadata


def save_model(path: str | Path, config: GPTConfig, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write a GPT's weights with its config in the header, so that the file is self-contained."""
    save_tensors(path, tensors, {**metadata, "config": json.dumps(config.as_dict(), sort_keys=True)})


def load_model(path: str | Path, device: torch.device | str = "cpu", shape: Mapping[str, Any] | None = None) -> GPT:
    """Load a GPT from a file of `save_model`, ready for inference.

    A `UserError` if the file is missing, damaged, not of this project or of another than the expected `shape`, of which
    a vocabulary of None is that of any tokenizer.
    """
    tensors, metadata = load_tensors(path)
    if "config" not in metadata:
        raise UserError(f"{path}: no model config in its metadata; it was not written by this project")
    config = GPTConfig.from_dict(json.loads(metadata["config"]))
    if shape is not None:
        any_vocabulary = {"vocabulary": config.vocabulary} if shape.get("vocabulary", ...) is None else {}
        if config != (wanted := GPTConfig.from_dict({**shape, **any_vocabulary})):
            raise UserError(f"{path}: holds {config}, but the config asks for {wanted}; delete it and run again")
    model = GPT(config)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise UserError(f"{path}: its tensors are not those of its config: {error}") from error
    return model.eval().to(device)
