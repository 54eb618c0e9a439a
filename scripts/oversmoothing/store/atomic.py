"""Atomic writes: a reader sees the old file or the new one, never half of one."""

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
    """Give a temporary path beside `path`; rename it to `path` once the block ends well.

    Parameters
    ----------
    path : str or Path
        The file to write. Its folder is made if it is missing.

    Yields
    ------
    Path
        A path in the same folder, so that the final rename is atomic. If the block raises, what it
        wrote there is removed and `path` stays as it was.

    Raises
    ------
    UserError
        If the disk is full; the message names `path`.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    for abandoned in path.parent.glob(f".{glob.escape(path.name)}.*.part"):  # by a kill in the middle of a write
        if not _lives(abandoned.suffixes[-2][1:]):
            abandoned.unlink(missing_ok=True)
    try:
        yield temporary
        _flush_to_disk(temporary)
        temporary.replace(path)
    except Exception as error:
        if "No space left on device" in str(error):  # an OSError of Python or Arrow, or a SafetensorError
            raise UserError(f"{path}: no space left on the disk; free some and run again") from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as JSON with sorted keys, so that equal values give equal files."""
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def _lives(process: str) -> bool:
    """Whether a process of this machine may still be writing: an orphan of a run that was shot, or another run."""
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
    """Force a file's bytes to the disk before it is renamed: a power cut then cannot leave it empty."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
