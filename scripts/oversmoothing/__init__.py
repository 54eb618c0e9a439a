"""How far language models oversmooth, and how much of that their heads force."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oversmoothing.comparison.compare import compare

__all__ = ["compare"]


def __getattr__(name: str) -> Any:
    """Return `compare` when it is first used (PEP 562); docs/tokens.md describes it."""
    # Whatever imports a module of the library, as plans and `--help` do, runs this file; `compare` loads PyTorch.
    if name != "compare":
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return import_module("oversmoothing.comparison.compare").compare


def __dir__() -> list[str]:
    return __all__
