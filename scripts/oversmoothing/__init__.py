"""How far language models oversmooth, and how much of that their heads force."""

from importlib import import_module
from typing import Any

NAMES = ("compare",)


def __getattr__(name: str) -> Any:
    """Return a name of `public`, which is imported by name: so what it imports is no part of fingerprints (PEP 562)."""
    if name not in NAMES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module("oversmoothing.public"), name)


def __dir__() -> list[str]:
    return [*NAMES]
