"""Weights, operations and memory of a GPT, from its shape alone and without PyTorch.

A shape is a mapping with the keys of `model.GPTConfig`: ``layers`` L, ``width`` d, ``block`` T, ``rank`` (None for a
head without a bottleneck), and ``positions`` and ``bottleneck_norm`` where they matter. The vocabulary v is that of
bytes.

`parameters` is the exact count. The others leave something out on purpose, and their names say what.
"""

from collections.abc import Mapping
from typing import Any

VOCABULARY = 256
FLOAT32 = 4  # bytes
# Of activations that the backward pass needs, per byte of text, layer and unit of width, in bf16 and without attention
# matrices (Korthikanti et al. 2022, equation 1).
ACTIVATION_BYTES = 34

Shape = Mapping[str, Any]


def parameters(shape: Shape) -> int:
    """Count of all parameters: embeddings, blocks, bottleneck, LayerNorms (which have no biases) and head."""
    width, out = shape["width"], shape["rank"] or shape["width"]
    norm = width if shape["bottleneck_norm"] == "before" else out
    unused = shape["block"] * width if shape["positions"] == "rotary" else 0
    return matrices(shape) - unused + 2 * shape["layers"] * width + norm


def matrices(shape: Shape) -> int:
    """Count of weights in matrices: all parameters except those of LayerNorms, and learned positions in any case."""
    return multiplied(shape) + (VOCABULARY + shape["block"]) * shape["width"]


def multiplied(shape: Shape) -> int:
    """Count of weights that take part in matrix products: blocks, bottleneck and head, but no embeddings."""
    rank = shape.get("rank")
    head = VOCABULARY * shape["width"] if rank is None else rank * (shape["width"] + VOCABULARY)
    return block_matrices(shape) + head


def block_matrices(shape: Shape) -> int:
    """Count of weights in the blocks' matrices: 12 L d^2."""
    return 12 * shape["layers"] * shape["width"] ** 2


def block_parameters(shape: Shape) -> int:
    """Count of parameters of the blocks, LayerNorms included: the N of scaling laws (Kaplan et al. 2020)."""
    return block_matrices(shape) + 2 * shape["layers"] * shape["width"]


def matrices_without_bottleneck(shape: Shape) -> int:
    """Count of weights in matrices as if there were no bottleneck, so that all ranks ask for the same resources."""
    return matrices({**shape, "rank": None})


def flops_per_byte(shape: Shape) -> int:
    """Floating-point operations of training on one byte, forward and backward: 6 N + 12 L d T.

    N is `multiplied`, and the second term is attention over a full block (Kaplan et al. 2020; Chowdhery et al. 2022,
    appendix B). A forward pass alone takes a third. `training.throughput` counts N in the model itself instead,
    because an edit to any module that training imports retrains every model.
    """
    return 6 * multiplied(shape) + 12 * shape["layers"] * shape["width"] * shape["block"]


def flops_per_byte_without_attention(shape: Shape) -> int:
    """Six operations per weight, whatever the rank: for the time limits of jobs."""
    return 6 * matrices_without_bottleneck(shape)


def training_bytes(shape: Shape) -> int:
    """Memory of a training, whatever the rank: weights, gradients and two moments, twice while they are saved."""
    return 2 * 4 * FLOAT32 * matrices_without_bottleneck(shape)


def checkpoint_bytes(shape: Shape) -> int:
    """Size of a checkpoint, whatever the rank: weights and two moments."""
    return 3 * FLOAT32 * matrices_without_bottleneck(shape)


def gpu_bytes(shape: Shape, batch: int) -> int:
    """GPU memory of a training: weights, gradients and two moments in float32, and a batch's activations in bf16."""
    activations = ACTIVATION_BYTES * batch * shape["block"] * shape["layers"] * shape["width"]
    return 4 * FLOAT32 * matrices(shape) + activations


def cache_bytes(layers: int, width: int, length: int) -> int:
    """Memory of the keys and values of one text of `length` bytes, in float32.

    `samples.generate` has the same product of its own, because an edit to any module that it imports samples anew.
    """
    return 2 * FLOAT32 * layers * width * length
