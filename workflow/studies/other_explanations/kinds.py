"""The kinds of models that are told apart, beside those of objectives, and the metrics that are compared."""

from oversmoothing.models.output_kinds import NOT_LINEAR

MEASURED = ("tto", "tv", "kl")
LINEAR_HEADS = "family"
SHORTER = "shorter"  # the control at equal loss
PLAIN = "plain"
OTHER_HEADS = (PLAIN, *NOT_LINEAR)
TITLES = {PLAIN: "linear head, LayerNorm before the bottleneck"}  # where other studies have another


def setting(kind: str, arm: str) -> str:
    """Return the parameter of an objective as it stands in the name of an arm; empty for heads."""
    return "" if kind in OTHER_HEADS else arm.partition(kind)[2]
