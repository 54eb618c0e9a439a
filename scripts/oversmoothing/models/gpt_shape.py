"""Weights, operations and memory of a GPT, from its shape alone and without PyTorch.

A shape is a mapping with the keys of `GPTConfig`: ``layers`` L, ``width`` d, ``block`` T, ``rank`` (None for a
head without a bottleneck), ``vocabulary`` v where it is not the 256 bytes, and ``positions`` and ``bottleneck_norm``
where they matter; ``output`` where the output layer is not linear, and ``biases`` where the blocks have them.
"""

import math
from collections.abc import Mapping
from typing import Any

from oversmoothing.models.output_kinds import KINDS, LINEAR, OutputKind

VOCABULARY = 256
USUAL = 50_000  # tokens of a tokenizer
FLOAT32 = 4  # bytes
# Of activations that the backward pass needs, per byte of text, layer and unit of width, in bf16 and without attention
# matrices (Korthikanti et al. 2022, equation 1).
ACTIVATION_BYTES = 34

Shape = Mapping[str, Any]


def vocabulary(shape: Shape) -> int:
    """Return the number of tokens; the usual one where it is None, that of a tokenizer that was not read yet."""
    return int(shape.get("vocabulary", VOCABULARY) or USUAL)


def parameters(shape: Shape) -> int:
    """Return the number of all parameters: embeddings, blocks, bottleneck, LayerNorms and output layer."""
    width = shape["width"]
    norm = width if shape["bottleneck_norm"] == "before" else head_input(shape)
    unused = shape["block"] * width if shape["positions"] == "rotary" else 0
    biases = 11 if shape.get("biases") else 0  # 2 of norms; 3 and 1 of attention's, 4 and 1 of the feed-forward's maps
    return matrices(shape) - unused + (2 + biases) * shape["layers"] * width + norm + sum(_of_output(shape, 1))


def matrices(shape: Shape) -> int:
    """Return the number of weights in matrices: all parameters except LayerNorms, always with learned positions."""
    return multiplied(shape) + (vocabulary(shape) + shape["block"]) * shape["width"]


def multiplied(shape: Shape) -> int:
    """Return the number of weights in matrix products: blocks, bottleneck and output layer, but not embeddings."""
    return block_matrices(shape) + head_multiplied(shape)


def head_multiplied(shape: Shape) -> int:
    """Return the number of weights in the head's matrix products: bottleneck, its matrix and the output layer's."""
    return bottleneck(shape) + head_matrix(shape) + sum(_of_output(shape, 2))


def head_products(shape: Shape) -> int:
    """Return the head's multiplications for one position, forward; a matrix counts once per softmax of a mixture."""
    return head_multiplied(shape) + (output_kind(shape).times - 1) * head_matrix(shape)


def bottleneck(shape: Shape) -> int:
    """Return the number of weights in the bottlenecks, one for each vector that enters; 0 for a head without one."""
    narrowed = shape.get("rank") or entering(shape) > shape["width"]
    return entering(shape) * shape["width"] if narrowed else 0


def head_matrix(shape: Shape) -> int:
    """Return the number of weights in the head's matrix."""
    return vocabulary(shape) * output_kind(shape).reads(head_input(shape))


def output_kind(shape: Shape) -> OutputKind:
    """Return the kind of the output layer."""
    return KINDS[shape.get("output", LINEAR)]


def _of_output(shape: Shape, dimensions: int) -> list[int]:
    """Return sizes of the output layer's weights beside the head's matrix: of its matrices or of its vectors."""
    weights = output_kind(shape).weights(head_input(shape)).values()
    return [math.prod(size) for size in weights if len(size) == dimensions]


def block_matrices(shape: Shape) -> int:
    """Return the number of weights in the blocks' matrices: 12 L d^2."""
    return 12 * shape["layers"] * shape["width"] ** 2


def head_input(shape: Shape) -> int:
    """Return the dimension of each input of the head: the rank, or the width without a bottleneck."""
    return shape.get("rank") or shape["width"]


def entering(shape: Shape) -> int:
    """Return how many numbers enter the output layer."""
    return output_kind(shape).vectors * head_input(shape)


def matrices_without_bottleneck(shape: Shape) -> int:
    """Return the number of weights in matrices without the bottleneck, so that all ranks request the same resources."""
    return matrices({**shape, "rank": None})


def flops_per_byte(shape: Shape) -> int:
    """Return the number of floating-point operations of training on one byte, forward and backward: 6 N + 12 L d T.

    N is `multiplied`, where the head's matrix counts once for each softmax of a mixture, and the second term is
    attention over a full block (Kaplan et al. 2020; Chowdhery et al. 2022, appendix B). What is done to single numbers,
    such as a softmax or a monotone map, does not count. A forward pass alone takes a third.
    """
    again = head_products(shape) - head_multiplied(shape)
    return 6 * (multiplied(shape) + again) + 12 * shape["layers"] * shape["width"] * shape["block"]


def weight_bytes(shape: Shape) -> int:
    """Return the size of a file of weights."""
    return FLOAT32 * matrices(shape)


def hidden_bytes(shape: Shape) -> int:
    """Return the size of the stored hidden states of one position: ``pre`` and ``post`` of `GPT.hidden`."""
    return FLOAT32 * (shape["width"] + entering(shape))


def checkpoint_bytes(shape: Shape) -> int:
    """Return the size of a checkpoint, independent of the rank: weights and two moments."""
    return 3 * FLOAT32 * matrices_without_bottleneck(shape)


def gpu_bytes(shape: Shape, batch: int) -> int:
    """Return the GPU memory of a training.

    It holds weights, gradients and two moments in float32, and a batch's activations in bf16.
    """
    activations = ACTIVATION_BYTES * batch * shape["block"] * shape["layers"] * shape["width"]
    return 4 * FLOAT32 * matrices(shape) + activations


def cache_bytes(layers: int, width: int, length: int) -> int:
    """Return the memory of the keys and values of one text of `length` bytes, in float32.

    `samples.generate` has its own copy.
    """
    return 2 * FLOAT32 * layers * width * length
