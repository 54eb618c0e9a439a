"""Provenance of a file: the model, a digest of the settings, and the versions of the packages that computed it."""

import hashlib
import json
import platform
from importlib.metadata import version
from typing import Any

PACKAGES = ("numpy", "pyarrow", "torch", "safetensors")


def provenance(settings: Any, **facts: Any) -> dict[str, str]:
    """Return how a file was made, as string pairs for its metadata.

    These are ``settings`` (JSON), the part of the config that the file depends on, ``settings_sha256``, ``python``,
    ``packages`` (JSON), and further facts such as ``model="bn4-s1337"`` or ``precision="bf16"``.
    """
    text = json.dumps(settings, sort_keys=True)
    return {
        "made_by": "oversmoothing",
        "settings": text,
        "settings_sha256": digest(settings),
        "python": platform.python_version(),
        "packages": json.dumps({name: version(name) for name in PACKAGES}, sort_keys=True),
        **{key: str(value) for key, value in facts.items()},
    }


def digest(settings: Any) -> str:
    """Return the SHA-256 of a JSON value, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
