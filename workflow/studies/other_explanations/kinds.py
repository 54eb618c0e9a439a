"""The kinds of models that are told apart, beside those of objectives."""

from oversmoothing.models.output_kinds import NOT_LINEAR

LINEAR_HEADS = "family"
SHORTER = "shorter"  # the control at equal loss
OTHER_HEADS = ("plain", *NOT_LINEAR)  # W = A B, without the LayerNorm between the two, and output layers
