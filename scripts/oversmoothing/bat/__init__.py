"""BAT-reject sets: the tokens to which a truth may give no mass, for all that a model's head can tell.

It imports nothing of the rest but `compiled`, `distributions` and `layer_norm`.
"""

import math
from importlib import import_module
from typing import Any

DELTA = math.log(1 / 0.8)  # largest log ratio of the truth to the model, in nats (thesis 4.1.6)
LARGEST_DELTA = 20


def __getattr__(name: str) -> Any:
    """Return a name of `public`, which is imported by name: so what it imports is no part of fingerprints (PEP 562)."""
    public = import_module("oversmoothing.bat.public")
    if name != "__all__" and name not in public.__all__:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(public, name)


def __dir__() -> list[str]:
    return [*import_module("oversmoothing.bat.public").__all__]
