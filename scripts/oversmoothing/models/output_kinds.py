"""The kinds of output layer: which weights each has beside the head's matrix, and what it costs; without PyTorch.

What a kind computes is a function of the same name in `LOGITS` of `output_layers`. A kind is chosen by ``output`` of
`model.GPTConfig`. Sizes follow from r, the width of what enters the head.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

LINEAR = "linear"
PIECES = 16  # of the monotone map
PARTITIONS = 4  # of the classes, in a multi-facet softmax (Chang & McCallum 2022)
INNER = 4  # times r: hidden width of the two-layer head, as of the blocks' feed-forward networks
# Second moments, of x a standard normal number: E tanh(x)^2 and E gelu(x)^2.
TANH, GELU = 0.394294, 0.425221
# The standard deviation of z at which z + log sigmoid(z) has a variance of 1.
SIGSOFTMAX = 0.664980


@dataclass(frozen=True)
class OutputKind:
    """What weights and operations an output layer takes."""

    weights: Callable[[int], Mapping[str, tuple[int, ...]]] = (
        lambda r: {}
    )  # shapes beside the head's; (outputs, inputs)
    reads: Callable[[int], int] = lambda r: r  # columns of the head's matrix
    times: int = 1  # how often that matrix is multiplied per position
    gain: float = 1.0  # of the head's initial weights under `fan_in`, so that log-probabilities have a variance near 1


def mixed(components: int) -> float:
    """Return the standard deviation of the logits of each component at which a mixture's have a variance of about 1.

    A sum of K independent log-normal numbers is taken as log-normal, with the same mean and variance (Fenton 1960).
    """
    return math.sqrt(math.log(1 + components * (math.e - 1)))


def mixture(components: int) -> OutputKind:
    """Return the kind of a mixture of softmaxes."""
    return OutputKind(
        weights=lambda r: {"contexts": (components * r, r), "prior": (components, r)},
        times=components,
        gain=mixed(components) / math.sqrt(TANH),
    )


def facets(components: int) -> OutputKind:
    """Return the kind of a multi-facet softmax: a mixture whose first softmax has a context for each partition."""
    return OutputKind(
        weights=lambda r: {"facets": ((PARTITIONS + components - 1) * r, r), "prior": (components, r)},
        times=components,
        gain=mixed(components),
    )


KINDS = {
    LINEAR: OutputKind(),
    "softcap": OutputKind(),
    "sigsoftmax": OutputKind(gain=SIGSOFTMAX),
    "mos2": mixture(2),
    "mos4": mixture(4),
    "monotone": OutputKind(weights=lambda r: {"slopes": (PIECES,)}),
    "two_layer": OutputKind(weights=lambda r: {"into": (INNER * r, r)}, reads=lambda r: INNER * r, gain=GELU**-0.5),
    "mfs3": facets(3),
}
