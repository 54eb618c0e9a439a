"""JSON that other jobs read, with its seal inside."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oversmoothing.store.atomic import atomic_path, write_json
from oversmoothing.store.seal import BLANK, KEY, check, seal


def write_sealed(path: str | Path, value: Mapping[str, Any]) -> None:
    """Write `value` as JSON with a seal; equal values give identical files."""
    with atomic_path(path) as temporary:
        write_json(temporary, {**value, KEY: BLANK})
        seal(temporary)


def read_sealed(path: str | Path) -> dict[str, Any]:
    """Read an object without its seal; one that has none passes.

    Raises
    ------
    UserError
        If the file was changed since it was sealed.
    OSError, ValueError, RecursionError
        If the file cannot be read, or is no JSON object.
    """
    check(path, f'; if you changed it yourself, write null as its "{KEY}"')
    value = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(value, dict):
        raise ValueError("not an object")
    value.pop(KEY, None)
    return value
