"""The LM head as a matrix: read without PyTorch, and truncated to a lower rank by SVD."""

import json
from pathlib import Path

import numpy as np

from oversmoothing.jobs import UserError
from oversmoothing.models.output_kinds import LINEAR
from oversmoothing.store.tensors import open_tensors

BLOCKS = "blocks."  # prefix of a GPT's weights other than embedding, bottleneck and head
ALONE = "alone"  # what the metadata of a head without its model say of it
CAP = "cap"  # and the c of logits c tanh(z / c), z being the head's, if they are capped
READS = "reads"  # in these metadata: ``pre`` or ``post``, which of the hidden states enter the head


def read_head(path: str | Path, capped: bool = False) -> np.ndarray:
    """Read a model's head, float32 (v, r), from its weights without PyTorch.

    A `UserError` is raised if it is no such matrix, or if its logits are capped, unless that makes no difference to the
    caller, or it takes care of it (`capped`).
    """
    with open_tensors(path) as (file, described):
        kind = json.loads(described.get("config", "{}")).get("output", LINEAR)
        if kind != LINEAR:
            raise UserError(f"{path}: output: {kind} is no linear head, so that no matrix stands for it; name another")
        if CAP in described and not capped:
            raise UserError(
                f"{path}: its logits are capped at {float(described[CAP]):g}, and what is asked for needs logits that "
                "are linear in what enters the head; leave this model out of it"
            )
        if "head.weight" not in file.keys():  # noqa: SIM118 (not a dict)
            raise UserError(f"{path}: no head.weight in it; delete it and run again")
        return file.get_tensor("head.weight").astype(np.float32, copy=False)


def read_facts(path: str | Path) -> dict[str, str]:
    """Read the metadata of a head's file, such as `CAP` and `READS`, which heads without their models may have."""
    with open_tensors(path) as (_, described):
        return described


def read_bias(path: str | Path) -> np.ndarray | None:
    """Read the bias, float32 (v,), of a head from its weights; None if it has none. Errors are those of `read_head`."""
    with open_tensors(path) as (file, _):
        bias = file.get_tensor("head.bias") if "head.bias" in file.keys() else None  # noqa: SIM118 (not a dict)
    return None if bias is None else bias.astype(np.float32, copy=False)


def read_gain(path: str | Path) -> np.ndarray | None:
    """Read the gain, float32 (r,), of the LayerNorm in front of the head.

    None if a Linear layer lies between them, or the file holds a head alone, whose norm is not known.
    """
    with open_tensors(path) as (file, described):
        if described.get("head") == ALONE:
            return None
        config = json.loads(described["config"])
        between = config["rank"] is not None and config["bottleneck_norm"] == "before"
        return None if between else file.get_tensor("norm.weight")


def count_parameters(weights: str | Path, prefix: str = "") -> int:
    """Return the number of a GPT's weights whose names begin with a prefix, from the header of its file."""
    with open_tensors(weights) as (file, _):
        shapes = [file.get_slice(name).get_shape() for name in file.keys() if name.startswith(prefix)]  # noqa: SIM118
    return sum(int(np.prod(shape)) for shape in shapes)


def truncate(weights: np.ndarray, rank: int) -> np.ndarray:
    """Return the best approximation to a head of rank at most `rank`: W_r = U_r S_r V_r^T (thesis 7.1).

    It is float64 (v, d); `weights` themselves if `rank` is min(v, d) or more, and a `ValueError` if it is below 1. C.
    Eckart and G. Young, "The approximation of one matrix by another of lower rank", Psychometrika 1936.
    """
    if rank < 1:
        raise ValueError(f"rank {rank} must be at least 1")
    weights = np.asarray(weights, np.float64)
    if rank >= min(weights.shape):
        return weights
    u, s, vt = np.linalg.svd(weights, full_matrices=False)
    return (u[:, :rank] * s[:rank]) @ vt[:rank]
