"""The arms: what is trained on the language, in which batches, and for which vocabularies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Arm:
    """A kind of model, and how it is trained."""

    title: str  # ``{rank}``, ``{largest}`` and ``{batch}`` in it are those of the config
    kind: str  # of model: "full", "backward", "plain", "alone", "unused" or "table" (see `learn.build`)
    fixed: bool = False  # whether the batch is the same for all vocabularies, or in proportion to them
    long: bool = False  # whether sequences are long


FULL, LONG = "full", "long"
ARMS = {
    FULL: Arm("full head", "full"),
    "table": Arm("table of logits, no bottleneck", "table"),
    "alone": Arm("head alone, on a frozen trunk", "alone"),
    "unused": Arm("full head with {largest:,} classes", "unused"),
    "backward": Arm("full head, gradient of rank {rank}", "backward"),
    "plain": Arm("head W = A B of rank {rank}", "plain"),
    "full_fixed": Arm("full head, batches of {batch}", "full", fixed=True),
    "table_fixed": Arm("table of logits, batches of {batch}", "table", fixed=True),
    "alone_fixed": Arm("head alone, batches of {batch}", "alone", fixed=True),
    LONG: Arm("full head, long sequences", "full", long=True),
}


def vocabularies(name: str, settings: Mapping[str, Any]) -> list[int]:
    """Vocabularies v of an arm: the smallest of long sequences, and tables of at most v x v numbers."""
    every = sorted(settings["vocabularies"])
    arm = ARMS[name]
    if arm.long:
        return every[:1]
    if arm.kind == "table":
        return [v for v in every if v <= settings["largest_table"]]
    return every[:-1] if arm.kind == "unused" else every


def batch(name: str, v: int, settings: Mapping[str, Any]) -> int:
    """Sequences in a step: each an independent draw of a symbol."""
    return int(settings["batch"] if ARMS[name].fixed else v // settings["steps_per_draw"])


def title(name: str, settings: Mapping[str, Any]) -> str:
    """Title of an arm."""
    facts = {"rank": settings["rank"], "batch": settings["batch"], "largest": max(settings["vocabularies"])}
    return ARMS[name].title.format(**facts)
