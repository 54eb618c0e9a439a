"""Decodings as entries of the config describe them: methods, ``{name: top-p, p: 0.9}``, and chains of methods.

A chain, ``{chain: [{temperature: 1.5}, {min-p: 0.05}]}``, applies methods that map distributions, its links, in the
order written. A link is ``{METHOD: VALUE}``, or ``METHOD`` if it has no parameter, or ``{METHOD: {key: value, ...}}``.

The methods are in `oversmoothing.scores.decodings`, one module each. They are imported by name, so that a fingerprint
holds only those that are used.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from oversmoothing.jobs import UserError
from oversmoothing.scores.catalogue.decoders import maps, method, names, parameters
from oversmoothing.scores.probabilities import Array, Decoder

__all__ = ["Decoder", "check_k", "decoder", "decoding_name", "links"]


def decoder(settings: Mapping[str, Any], vocabulary: int | None = None) -> Decoder:
    """Return the decoding that an entry of the config's list describes, such as ``{name: top-p, p: 0.9}``, or a chain.

    It maps distributions (n, v) to distributions (n, v). A `UserError` is raised if the name or a key is unknown, a key
    is missing, or a value is out of range. The range of k ends at v: with `vocabulary`, a larger one is rejected here,
    and otherwise at the first call.
    """
    if "chain" in settings:
        chain = [decoder(link, vocabulary) for link in links(settings)]
        return lambda p: reduce(lambda before, one: one(before), chain, p)
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


def links(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the methods that an entry applies, in order; a `UserError` if it is no method and no chain of links."""
    if "chain" not in entry:
        if "name" not in entry:
            raise UserError("decoding: write `name: METHOD` with its parameter, or `chain: [...]`")
        return [entry]
    if set(entry) != {"chain"}:
        other = next(key for key in entry if key != "chain")
        raise UserError(f"decoding chain: {other} stands beside it; leave it out, parameters belong to the links")
    chain = entry["chain"]
    if not isinstance(chain, Sequence) or isinstance(chain, str) or not chain:
        raise UserError(f"decoding chain: {chain!r} is no list of links; write [{{temperature: 1.5}}, {{min-p: 0.05}}]")
    return [_link(link) for link in chain]


def decoding_name(entry: Mapping[str, Any]) -> str:
    """Return what an entry is called in tables and paths: its method, or ``temperature-1.5+min-p-0.05`` for a chain."""
    if "chain" not in entry:
        return str(entry["name"])
    named = ([link["name"], *(f"{value:g}" for value in parameters(link))] for link in links(entry))
    return "+".join("-".join(parts) for parts in named)


def check_k(settings: Mapping[str, Any], vocabulary: int | None) -> None:
    """Raise a `UserError` if the k of an entry for top-k is above the size of the vocabulary, if that is known."""
    if vocabulary is not None and settings["k"] > vocabulary:
        raise UserError(f"decoding top-k: k = {settings['k']} is above {vocabulary}, the size of the vocabulary")


def _link(link: Any) -> dict[str, Any]:
    """Return a link of a chain as the entry of its method."""
    if isinstance(link, Mapping) and len(link) == 1:
        ((name, value),) = link.items()
    elif isinstance(link, str):
        name, value = link, {}
    else:
        raise UserError(f"decoding chain: {link!r} is no link; write {{METHOD: VALUE}}, or METHOD if it takes none")
    known = method(name) if name in names() else None
    if known is None or known.function is None:
        why = "maps no distributions and can be no link" if known else "is an unknown method"
        raise UserError(f"decoding chain: {name} {why}; use one of {', '.join(maps())}")
    if not isinstance(value, Mapping):
        if not known.parameters:
            raise UserError(f"decoding chain: {name} takes no value; write {name} alone")
        value = {known.parameters[0].key: value}
    return {**value, "name": name}
