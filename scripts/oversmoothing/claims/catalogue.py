"""All claims of the thesis, Godey et al. and ours: of the core, and of studies, whose modules are handed in."""

from collections.abc import Iterable
from types import ModuleType

from oversmoothing.claims import decodings, thesis, truncated
from oversmoothing.claims.claim import Claim

CLAIMS = [*thesis.CLAIMS, *decodings.CLAIMS, *truncated.CLAIMS]


def in_order(modules: Iterable[ModuleType]) -> tuple[list[Claim], dict[str, str]]:
    """Return the claims of the core and of studies, by place, and the headings of the places that studies name."""
    claims, headings = [*CLAIMS], dict[str, str]()
    for module in modules:
        claims += module.CLAIMS
        headings |= getattr(module, "HEADINGS", {})
    return sorted(claims, key=lambda claim: claim.place_of(headings)), headings
