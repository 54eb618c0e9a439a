"""BAT-reject sets: the tokens to which a truth may give no mass, for all that a model's head can tell.

It imports nothing of the rest but `numerics`.
"""

from oversmoothing.bat.basis import Basis, TangentBasis, prepare, prepare_tangent
from oversmoothing.bat.reject import RejectSet, bracket, reject_set
from oversmoothing.numerics.log_ratio import DELTA as DELTA
from oversmoothing.numerics.log_ratio import LARGEST_DELTA as LARGEST_DELTA

__all__ = ["prepare", "prepare_tangent", "reject_set", "bracket", "Basis", "TangentBasis", "RejectSet"]  # noqa: RUF022 (the order of docs/api.md)
