"""What `from oversmoothing import bat` offers; docs/api.md describes it. Steps import the modules instead."""

from oversmoothing.bat.basis import Basis, TangentBasis, prepare, prepare_tangent
from oversmoothing.bat.reject import RejectSet, bracket, reject_set

__all__ = ["prepare", "prepare_tangent", "reject_set", "bracket", "Basis", "TangentBasis", "RejectSet"]  # noqa: RUF022 (the page's order)
