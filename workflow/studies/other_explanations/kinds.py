"""The kinds of models that are told apart: linear heads, the control at equal loss, and other output layers.

All further kinds are of other objectives.
"""

from oversmoothing.models.output_kinds import KINDS, LINEAR

LINEAR_HEADS, SHORTER = "family", "shorter"
OUTPUTS = tuple(kind for kind in KINDS if kind != LINEAR)
