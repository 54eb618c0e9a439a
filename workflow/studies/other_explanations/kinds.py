"""The kinds of models that are told apart, beside output layers that are not linear; others are of objectives."""

LINEAR_HEADS = "family"
SHORTER = "shorter"  # the control at equal loss
