"""What tables and figures call each kind of model, and how figures draw it."""

from typing import Any, NamedTuple

from oversmoothing.models.output_kinds import KINDS as OUTPUTS
from oversmoothing.models.output_kinds import NOT_LINEAR
from oversmoothing.training.objectives import OBJECTIVES

MARKERS = "d*>hDH"  # of output layers and objectives


class Kind(NamedTuple):
    """A kind of model (`kind` of the record)."""

    title: str  # in tables
    look: tuple[int, str, Any]  # in figures: index of the colour, marker, line
    legend: str = ""  # in legends, if it is not the title


KINDS = {  # in the order of tables and legends
    "family": Kind("learned from scratch", (0, "o", "-")),
    "plain": Kind(
        "learned from scratch, plain head",
        (4, "v", (0, (1, 1))),
        "head W = A B, no LayerNorm, learned from scratch",
    ),
    "matched": Kind(
        "learned from scratch, plain head, matched start",
        (9, "^", (0, (5, 1))),
        "head W = A B that starts as large as a full head",
    ),
    "backward": Kind("gradient alone", (5, "P", (0, (3, 1, 1, 1))), "full head, gradient of that rank"),
    "shorter": Kind("learned for fewer steps", (8, "d", (0, (5, 1)))),
    "context": Kind("sees fewer bytes", (6, "<", (0, (5, 1)))),
    "layers": Kind("of fewer layers", (7, "X", (0, (5, 1)))),
    **{
        kind: Kind(OUTPUTS[kind].title, (i, MARKERS[i % len(MARKERS)], (0, (1, 2))))
        for i, kind in enumerate(NOT_LINEAR, 1)
    },
    **{
        name: Kind(f"learned under {objective.title}", (i, MARKERS[i % len(MARKERS)], (0, (2, 1))))
        for i, (name, objective) in enumerate(OBJECTIVES.items())
    },
    "svd": Kind("truncated", (1, "s", "--"), "head truncated by SVD"),
    "retrained": Kind("retrained", (2, "^", "-."), "head W = A B retrained, rest frozen"),
    "normed": Kind("retrained with LayerNorm", (3, "D", (0, (5, 1))), "head with LayerNorm retrained, rest frozen"),
    "full_head": Kind(
        "full head retrained on the trunk of that rank",
        (9, ">", "-"),
        "full head retrained on the trunk behind a head of that rank",
    ),
    "own_trunk": Kind(
        "plain head retrained on its own trunk", (4, "v", "-"), "head W = A B retrained on its own trunk"
    ),
}
TITLES = {kind: own.title for kind, own in KINDS.items()}
LEGENDS = {kind: own.legend or own.title for kind, own in KINDS.items()}
