"""Pure sampling: the distributions as they are."""

from oversmoothing.scores.catalogue.decoders import Method
from oversmoothing.scores.probabilities import Array


def pure(p: Array) -> Array:
    """Return the distributions unchanged: sampling without a decoding method."""
    return p


METHOD = Method(pure)
