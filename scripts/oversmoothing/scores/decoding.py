"""Decodings as entries of the config describe them, such as ``{name: top-p, p: 0.9}``.

The methods are in `oversmoothing.scores.decodings`, one module each. They are imported by name, so that a fingerprint
holds only those that are used.
"""

from collections.abc import Mapping
from typing import Any

from oversmoothing.jobs import UserError
from oversmoothing.scores.catalogue.decoders import maps, method, names, parameters
from oversmoothing.scores.probabilities import Array, Decoder

__all__ = ["Decoder", "check_k", "decoder"]


def decoder(settings: Mapping[str, Any], vocabulary: int | None = None) -> Decoder:
    """Return the decoding that an entry of the config's list describes, such as ``{name: top-p, p: 0.9}``.

    It maps distributions (n, v) to distributions (n, v). A `UserError` is raised if the name or a key is unknown, a key
    is missing, or a value is out of range. The range of k ends at v: with `vocabulary`, a larger one is rejected here,
    and otherwise at the first call.
    """
    name = settings.get("name")
    function = method(name).function if name in names() else None
    if function is None:
        raise UserError(f"decoding: unknown name {name!r}; use one of {', '.join(maps())}")
    values = parameters(settings)
    if name == "top-k":
        check_k(settings, vocabulary)

    def decode(p: Array) -> Array:
        if name == "top-k":
            check_k(settings, p.shape[1])
        return function(p, *values)

    return decode


def check_k(settings: Mapping[str, Any], vocabulary: int | None) -> None:
    """Raise a `UserError` if the k of an entry for top-k is above the size of the vocabulary, if that is known."""
    if vocabulary is not None and settings["k"] > vocabulary:
        raise UserError(f"decoding top-k: k = {settings['k']} is above {vocabulary}, the size of the vocabulary")
