"""Provenance of a file: the model, digests of settings and files, and the versions of the packages that computed it."""

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from oversmoothing.store.atomic import no_fault_of

PACKAGES = ("numpy", "pyarrow", "torch", "safetensors")


def provenance(settings: Any, **facts: Any) -> dict[str, str]:
    """Return how a file was made, as text for its metadata: settings and packages (JSON), and `facts` as they are."""
    return {
        "made_by": "oversmoothing",
        "settings": json.dumps(settings, sort_keys=True),
        "settings_sha256": digest(settings),
        "python": platform.python_version(),
        "packages": json.dumps({name: version(name) for name in PACKAGES}, sort_keys=True),
        **{key: str(value) for key, value in facts.items()},
    }


def digest(settings: Any) -> str:
    """Return the SHA-256 of a JSON value, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file."""
    with no_fault_of(path), Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
