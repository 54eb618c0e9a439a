"""Atomic writes: a reader sees the old file or the new one, never a partial one."""

import glob
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oversmoothing.jobs import UserError


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to `path` once the block succeeds and removed if it raises."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    for abandoned in path.parent.glob(f".{glob.escape(path.name)}.*.part"):  # by a process killed while writing
        if not _lives(abandoned.suffixes[-2][1:]):
            abandoned.unlink(missing_ok=True)
    try:
        yield temporary
        _flush_to_disk(temporary)
        temporary.replace(path)
    except Exception as error:
        if "No space left on device" in str(error):  # raised as OSError by Python and Arrow, and as SafetensorError
            raise UserError(f"{path}: no space left on the disk; free some and run again") from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as JSON with sorted keys, so that equal values give identical files."""
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def _lives(process: str) -> bool:
    """Return whether another process of this machine may still be writing, as opposed to having been killed."""
    if not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return int(process) != os.getpid()


def _flush_to_disk(path: Path) -> None:
    """Flush a file to disk before it is renamed, so that a power failure cannot leave it empty."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
