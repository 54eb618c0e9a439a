"""Adopt a checkpoint of the user: a GPT that is whole, holds numbers and fits its config and the windows."""

import json
import re
from pathlib import Path

import torch

from oversmoothing.hub.other_formats import PICKLED, other_format
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.output_kinds import LINEAR
from oversmoothing.models.weights import save_tensors
from oversmoothing.store.tensors import FLOATS, open_tensors

REMEDY = "make or copy it again"
HOW = {PICKLED: "torch.load(FILE, weights_only=True)"}
WRAPPERS = re.compile(r"^((_orig_mod|module)\.)+")  # before each name, by torch.compile and by DistributedDataParallel


def main(job: Job) -> None:
    """Check the file; write it in float32, with a checksum, where trained models are stored."""
    path = Path(job.input[0])
    if path.is_file() and (kind := other_format(path)):
        saved = f'save_file({HOW.get(kind, "TENSORS")}, NEW, {{"config": json.dumps(SHAPE)}})'
        raise UserError(f"{path}: {kind}; convert it where you trust it: `safetensors.torch.{saved}`")
    tensors = {}
    with open_tensors(path, "pt", REMEDY) as (file, metadata):
        for name in file.keys():  # noqa: SIM118 (not a dict)
            if (dtype := file.get_slice(name).get_dtype()) not in FLOATS:
                raise UserError(f"{path}: its tensor {name} holds {dtype}; save the weights as float32")
            own = WRAPPERS.sub("", name)
            if own in tensors:
                raise UserError(f"{path}: it holds {own} twice, with and without a wrapper's prefix; save one model")
            tensors[own] = file.get_tensor(name).float()
    try:
        config = GPTConfig.from_dict(json.loads(metadata.get("config", "")))
    except (UserError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: no model config in its metadata ({error})") from error
    if config.output != LINEAR:
        raise UserError(
            f"{path}: output: {config.output} is no linear head, which a member with a `path` has; train it"
        )
    if config.block < job.params.block:
        raise UserError(
            f"{path}: its block of {config.block} is shorter than a window of {job.params.block}; shorten `windows`"
        )
    if config.layers > len(tensors):
        raise UserError(f"{path}: its config has {config.layers} layers, but it holds {len(tensors)} tensors")
    with torch.device("meta"):
        expected = {name: tuple(tensor.shape) for name, tensor in GPT(config).state_dict().items()}
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    for name in sorted(shapes.keys() | expected.keys()):
        if (shape := shapes.get(name)) != (wanted := expected.get(name)):
            raise UserError(f"{path}: its tensor {name} is {shape}, where its config makes it {wanted}")
        if not tensors[name].isfinite().all():
            raise UserError(f"{path}: its tensor {name} holds NaN or infinity; name an earlier checkpoint")
    save_tensors(job.output.weights, tensors, metadata)


if __name__ == "__main__":
    run(main)
