"""Atomic writes: a reader sees the old file or folder, or the new one, never a partial one."""

import glob
import json
import os
import platform
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from oversmoothing.jobs import UserError, file_fault

MACHINE = f"{zlib.crc32(platform.node().encode()):08x}"  # of several that share a file system


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to `path` once the block succeeds and removed if it raises."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{MACHINE}.part")
    with no_fault_of(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(path)
        try:
            yield temporary
            _flush_to_disk(temporary)
            temporary.replace(path)
            _remove_abandoned(path, f"-{MACHINE}")  # by one that began later; on another machine it may still write
        finally:
            with suppress(OSError):  # where it cannot be removed, it could not be written, which is said
                temporary.unlink(missing_ok=True)


@contextmanager
def no_fault_of(path: str | Path) -> Iterator[None]:
    """Raise a `UserError` that names `path` if the system cannot read or write it, for a reason that lies elsewhere."""
    try:
        yield
    except Exception as error:
        if fault := file_fault(error):
            raise UserError(f"{path}: {fault}") from error
        raise


def json_text(path: str | Path, value: Any) -> str:
    """Return `value` as JSON with sorted keys, so that equal values give identical files.

    A `UserError` names `path` if the value has numbers that JSON cannot hold: NaN or infinity.
    """
    try:
        return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError as error:
        raise UserError(f"{path}: NaN or infinity, which JSON cannot hold; check what made them") from error


def _remove_abandoned(path: Path, machine: str = "") -> None:
    """Remove what processes that were killed while writing `path` have left beside it, of one machine or of all."""
    for abandoned in path.parent.glob(f".{glob.escape(path.name)}.*{machine}.part"):
        if not _lives(abandoned.suffixes[-2][1:]):
            abandoned.unlink(missing_ok=True)


def _lives(writer: str) -> bool:
    """Return whether another process of this machine may still be writing, as opposed to having been killed."""
    process, _, machine = writer.partition("-")
    if not process.isdecimal() or machine != MACHINE:
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


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder beside `path`, which replaces it once the block succeeds and is removed if it raises."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for abandoned in path.parent.glob(f".{glob.escape(path.name)}.*.part"):  # by a process killed while writing
        shutil.rmtree(abandoned, ignore_errors=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    temporary.mkdir()
    try:
        yield temporary
        if path.exists():
            shutil.rmtree(path)
        temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
