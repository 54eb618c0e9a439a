"""JSON that other jobs read, with its seal inside."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oversmoothing.store.atomic import atomic_path, json_text
from oversmoothing.store.seal import BLANK, KEY, REMEDY, check, seal


def write_sealed(path: str | Path, value: Mapping[str, Any]) -> None:
    """Write `value` as JSON with a seal; equal values give identical files."""
    text = json_text(path, {**value, KEY: BLANK})
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
        seal(temporary)


def read_sealed(path: str | Path) -> dict[str, Any]:
    """Read an object without its seal, if it has one.

    A `UserError` says that it changed since; OSError, ValueError and RecursionError, that it is no JSON object.
    """
    check(path, f'{REMEDY}; if you changed it yourself, write null as its "{KEY}"')
    value = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(value, dict):
        raise ValueError("not an object")
    value.pop(KEY, None)
    return value
