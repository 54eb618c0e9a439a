"""Adopt a checkpoint of the user: a GPT that is whole, holds numbers and fits its config and the windows."""

import json
from collections.abc import Collection
from pathlib import Path

import torch
from torch import Tensor

from oversmoothing.hub.formats import PICKLED, other_format
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.models.output_kinds import LINEAR
from oversmoothing.models.weights import save_tensors
from oversmoothing.store.tensors import FLOATS, open_tensors

REMEDY = "make or copy it again"
HOW = {PICKLED: "torch.load(FILE, weights_only=True)"}
WRAPPERS = ("_orig_mod.", "module.")  # before each name, by torch.compile and by DistributedDataParallel


def main(job: Job) -> None:
    """Check the file; write it, with a checksum, where trained models are stored."""
    path = job.input[0]
    config, tensors, metadata = read_adopted(path)
    if config.output != LINEAR:
        raise UserError(
            f"{path}: output: {config.output} is no linear head, which a member with a `path` has; train it"
        )
    if config.block < job.params.block:
        raise UserError(
            f"{path}: its block of {config.block} is shorter than a window of {job.params.block}; shorten `windows`"
        )
    save_tensors(job.output.weights, tensors, metadata)


def read_adopted(path: str | Path) -> tuple[GPTConfig, dict[str, Tensor], dict[str, str]]:
    """Return a checkpoint's config, tensors and metadata; a `UserError` names what is wrong with it.

    The header is compared with the config before a model or a tensor is built. A wrapper's prefix that all names have
    is left out.
    """
    path = Path(path)
    if path.is_file() and (kind := other_format(path)):
        loaded = HOW.get(kind, "TENSORS")
        saved = f'save_file({loaded}, NEW, {{"config": json.dumps(SHAPE)}})'
        raise UserError(f"{path}: {kind}; convert it where you trust it: `safetensors.torch.{saved}`")
    with open_tensors(path, "pt", REMEDY) as (file, metadata):
        try:
            config = GPTConfig.from_dict(json.loads(metadata.get("config", "")))
        except (UserError, ValueError, RecursionError) as error:
            raise UserError(f"{path}: no model config in its metadata ({error})") from error
        names = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        before = wrapper(names)
        slices = {name.removeprefix(before): described for name, described in names.items()}
        _check_shapes(path, config, {name: tuple(described.get_shape()) for name, described in slices.items()})
        for name, described in slices.items():
            if (dtype := described.get_dtype()) not in FLOATS:
                raise UserError(f"{path}: its tensor {name} holds {dtype}; save the weights as float32")
        tensors = {name: file.get_tensor(before + name) for name in slices}
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise UserError(f"{path}: its tensor {name} holds NaN or infinity; name an earlier checkpoint")
    return config, tensors, metadata


def wrapper(names: Collection[str]) -> str:
    """Return the part of `WRAPPERS` that all names begin with, one after another; "" if there is none."""
    before = ""
    while names and (more := [each for each in WRAPPERS if all(name.startswith(before + each) for name in names)]):
        before += more[0]
    return before


def _check_shapes(path: Path, config: GPTConfig, shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise if a config does not describe the tensors."""
    if config.layers > len(shapes):
        raise UserError(f"{path}: its config has {config.layers} layers, but it holds {len(shapes)} tensors")
    with torch.device("meta"):
        expected = {name: tuple(tensor.shape) for name, tensor in GPT(config).state_dict().items()}
    for name in sorted(shapes.keys() | expected.keys()):
        if (shape := shapes.get(name)) != (wanted := expected.get(name)):
            raise UserError(f"{path}: its tensor {name} is {shape}, where its config makes it {wanted}")


if __name__ == "__main__":
    run(main)
