"""Pure sampling: the distributions as they are."""

from oversmoothing.catalogue.decoders import Method
from oversmoothing.probabilities import Array


def pure(p: Array) -> Array:
    """Return the distributions unchanged: sampling without a decoding method."""
    return p


METHOD = Method(pure)
