"""JSON that other jobs read, with its seal and its identity inside."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oversmoothing import jobs
from oversmoothing.store.atomic import atomic_path, json_text
from oversmoothing.store.identity import check_identity, identity, texts
from oversmoothing.store.seal import BLANK, KEY, REMEDY, check, seal

IDENTITY = "identity"


def write_sealed(path: str | Path, value: Mapping[str, Any], name: str | Path | None = None) -> None:
    """Write `value` as JSON with a seal; equal values give identical files.

    An output of a job states its identity; `name` is its path if `path` is to be renamed to that.
    """
    stated = identity(name or path)
    if stated:
        settings = jobs.asked.get("settings")
        stated |= texts() | ({} if settings is None else {"settings": json.dumps(settings, sort_keys=True)})
        value = {**value, IDENTITY: stated}
    text = json_text(path, {**value, KEY: BLANK})
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
        seal(temporary)


def read_sealed(path: str | Path) -> dict[str, Any]:
    """Read an object without its seal and its identity, if it has them.

    A `UserError` says that it changed since, or that it is another file than its path says; OSError, ValueError and
    RecursionError, that it is no JSON object.
    """
    check(path, f'{REMEDY}; if you changed it yourself, write null as its "{KEY}"')
    value = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(value, dict):
        raise ValueError("not an object")
    value.pop(KEY, None)
    check_identity(path, value.pop(IDENTITY, {}))
    return value
