"""The arms of a family: how a member came by its rank, as its name says."""

import re

_NAME = re.compile(r"(pl|bw)(\d+)-s\d+")
PLAIN, BACKWARD = "pl", "bw"  # a head W = A B; a full head whose gradient passes through fewer dimensions


def arm(model: str) -> str:
    """`PLAIN` or `BACKWARD` from a model's name, such as ``pl16-s1``; "" for any other model."""
    found = _NAME.fullmatch(model)
    return found[1] if found else ""


def imposed(model: str, kind: str, rank: int | None) -> tuple[str, int | None]:
    """How a rank was imposed on a model, and that rank: its kind, or for an arm "plain" or "backward"."""
    found = _NAME.fullmatch(model)
    return ({PLAIN: "plain", BACKWARD: "backward"}[found[1]], int(found[2])) if found else (kind, rank)


def rank_words(model: str, rank: int) -> str:
    """Rank of what enters a model's head, with its arm: "16", "16, plain", "288, gradient 16"."""
    found = _NAME.fullmatch(model)
    if not found:
        return str(rank)
    return f"{rank}, plain" if found[1] == PLAIN else f"{rank}, gradient {found[2]}"
