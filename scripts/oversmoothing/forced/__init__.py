"""What a head forces: how much of its distance from a truth any model has that ends in the same head."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Return a name of `public`, which is imported by name: so what it imports is no part of fingerprints (PEP 562)."""
    public = import_module("oversmoothing.forced.public")
    if name != "__all__" and name not in public.__all__:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(public, name)


def __dir__() -> list[str]:
    return [*import_module("oversmoothing.forced.public").__all__]
