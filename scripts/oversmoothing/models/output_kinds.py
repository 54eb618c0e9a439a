"""The kinds of output layer: which weights each has beside the head's matrix, and what it costs; without PyTorch.

A kind is chosen by ``output`` of `GPTConfig`, and what it computes is a function of `output_layers`. Sizes follow
from r, the rank of the model: the width of the vector that enters a linear head, or of each where several enter.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

LINEAR = "linear"
PIECES = 16  # of the monotone map
PARTITIONS = 4  # of the classes, in a multi-facet softmax (Chang & McCallum 2022)
INNER = 4  # times r: hidden width of the two-layer head, as of the blocks' feed-forward networks
GELU = 0.425221  # E gelu(x)^2, of x a standard normal number
# The standard deviation of z at which z + log sigmoid(z) has a variance of 1.
SIGSOFTMAX = 0.664980


@dataclass(frozen=True)
class OutputKind:
    """What an output layer is, and what weights and operations it takes."""

    title: str  # in tables and figures
    function: str  # its name in `output_layers`
    # Shapes beside the head's matrix; (outputs, inputs).
    weights: Callable[[int], Mapping[str, tuple[int, ...]]] = lambda r: {}
    reads: Callable[[int], int] = lambda r: r  # columns of the head's matrix
    vectors: int = 1  # of width r that enter, each from a bottleneck of its own and behind its own LayerNorm
    times: int = 1  # how often that matrix is multiplied per position
    gain: float = 1.0  # of the head's initial weights under `fan_in`, so that log-probabilities have a variance near 1


def mixture(components: int, title: str, partitions: int = 1) -> OutputKind:
    """Return the kind of a mixture of softmaxes, each of a vector of its own, the first of one for each partition.

    The logits of a component start at the standard deviation at which a mixture's have a variance of about 1, a sum of
    K independent log-normal numbers being taken as log-normal, with the same mean and variance (Fenton 1960).
    """
    vectors = partitions + components - 1
    return OutputKind(
        title,
        "mixture" if partitions == 1 else "multi_facet",
        weights=lambda r: {"prior": (components, vectors * r)},
        vectors=vectors,
        times=components,
        gain=math.sqrt(math.log(1 + components * (math.e - 1))),
    )


KINDS = {
    LINEAR: OutputKind("linear head", ""),
    "softcap": OutputKind("softcapped logits, 30 tanh(z / 30)", "softcap"),
    "sigsoftmax": OutputKind("sigsoftmax", "sigsoftmax", gain=SIGSOFTMAX),
    "mos2": mixture(2, "mixture of two softmaxes"),
    "mos4": mixture(4, "mixture of four softmaxes"),
    "monotone": OutputKind("learned monotone map of the logits", "monotone", weights=lambda r: {"slopes": (PIECES,)}),
    "two_layer": OutputKind(
        "head with a hidden layer",
        "two_layer",
        weights=lambda r: {"into": (INNER * r, r)},
        reads=lambda r: INNER * r,
        gain=GELU**-0.5,
    ),
    "mfs3": mixture(3, "multi-facet softmax: three, the first in four parts", PARTITIONS),
}
NOT_LINEAR = tuple(kind for kind in KINDS if kind != LINEAR)
