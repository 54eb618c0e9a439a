"""Files that options of the commands name: a file is replaced if it is an earlier output, a device is written to."""

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from oversmoothing.jobs import UserError
from oversmoothing.printable import printable
from oversmoothing.store.atomic import atomic_path


def check_output(option: str, path: str | None, ours: Callable[[str], bool]) -> None:
    """Raise a `UserError` if a file cannot be written at the end, or would replace what is no earlier output.

    `ours` says of a file's text whether it is one. An empty file may be replaced.
    """
    if not path:
        return
    file = Path(path)
    if file.is_dir() or not file.parent.is_dir():
        raise UserError(f"{option} {path}: not a file in an existing folder")
    if is_device(path):
        return
    if not os.access(file.parent, os.W_OK):
        raise UserError(f"{option} {path}: its folder cannot be written to; name another")
    if file.exists():
        try:
            known = not (text := file.read_text(encoding="utf-8")) or ours(text)
        except (OSError, ValueError):
            known = False
        if not known:
            raise UserError(f"{option} {path}: no earlier output of this command, so it is not replaced; name another")


def is_device(path: str) -> bool:
    """Return whether a path names a device, a pipe, or what the command prints to."""
    return _stream(path) is not None or (Path(path).exists() and not Path(path).is_file())


def is_printed(path: str | None) -> bool:
    """Return whether a path names what the command prints to, such as ``/dev/stdout``."""
    return bool(path) and _stream(str(path)) is sys.stdout


def write_output(option: str, path: str, text: str) -> None:
    """Write text to a device or pipe, or replace a file; a `UserError` says why it cannot be done."""
    try:
        if stream := _stream(path):
            stream.write(text)
            stream.flush()
        elif is_device(path):
            with Path(path).open("a", encoding="utf-8") as device:
                device.write(text)
        else:
            with atomic_path(Path(path).resolve()) as temporary:
                temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{option} {path}: it cannot be written ({error.strerror or error}); name another") from error


def written(path: str) -> None:
    """Print that a file was written, unless it is what the command prints to."""
    if not is_printed(path):
        print(f"\nWrote {printable(path)}")


def _stream(path: str) -> TextIO | None:
    """Return the stream of this process that a path names: a second opening of a file would overwrite the first."""
    try:
        named = os.stat(path)  # noqa: PTH116 (a Path would drop a last slash)
    except OSError:
        return None
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if os.path.samestat(named, os.fstat(number)) and not _is_null(named):
                return stream
        except OSError:  # it is closed
            continue
    return None


def _is_null(named: os.stat_result) -> bool:
    return stat.S_ISCHR(named.st_mode) and os.path.samestat(named, os.stat(os.devnull))  # noqa: PTH116
