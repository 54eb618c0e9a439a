"""Files that options of the commands name: a file is replaced if it is an earlier output, a device is written to."""

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from pathlib import Path

from oversmoothing.jobs import UserError
from oversmoothing.printable import printable
from oversmoothing.store.atomic import atomic_path, no_fault_of

STDOUT = "/dev/stdout"


def check_output(option: str, path: str | None, ours: Callable[[str], bool]) -> None:
    """Raise a `UserError` if a file cannot be written at the end, or would replace what is no earlier output.

    `ours` says of a file's text whether it is one. An empty file may be replaced.
    """
    if not path:
        return
    file = Path(path)
    if file.is_dir() or not file.parent.is_dir():
        raise UserError(f"{option} {path}: not a file in an existing folder")
    if path == STDOUT or (file.exists() and not file.is_file()):
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


def beside(path: str | None) -> AbstractContextManager[object]:
    """Send what is printed to standard error where an option sends its output to standard output, for a program."""
    return redirect_stdout(sys.stderr) if path == STDOUT else nullcontext()


def write_output(option: str, path: str, text: str) -> None:
    """Write text to a device or pipe, or replace a file, and say so; a `UserError` says why it cannot be done."""
    try:
        with no_fault_of(f"{option} {path}"):
            if path == STDOUT:
                print(text, end="", flush=True)
                return
            if Path(path).exists() and not Path(path).is_file():
                with Path(path).open("a", encoding="utf-8") as device:
                    device.write(text)
            else:
                with atomic_path(Path(path).resolve()) as temporary:
                    temporary.write_text(text, encoding="utf-8")
    except BrokenPipeError as error:
        raise UserError(f"{option} {path}: what reads it has ended") from error
    print(f"\nWrote {printable(path)}")
