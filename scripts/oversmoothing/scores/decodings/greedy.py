"""Greedy decoding: the most probable token."""

import array_api_compat as api

from oversmoothing.scores.catalogue.decoders import Method
from oversmoothing.scores.probabilities import Array


def greedy(p: Array) -> Array:
    """Put all mass of each row of `p` (n, v) on its most probable token, the lowest id among equals."""
    xp = api.array_namespace(p)
    ids = xp.arange(p.shape[1], device=api.device(p))
    return xp.astype(ids == xp.argmax(p, axis=1, keepdims=True), p.dtype)


METHOD = Method(greedy)
