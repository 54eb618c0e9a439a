"""The text that an argument names, before anything reads it."""

import os
from pathlib import Path

from oversmoothing.jobs import UserError

GLOB = frozenset("*?[")


def check_text(text: str | os.PathLike[str]) -> None:
    """Raise a `UserError` if ``--text`` names nothing, or an empty file; a glob is left to what reads it."""
    path = Path(text)
    if not path.exists() and GLOB.isdisjoint(str(text)):
        raise UserError(f"--text {text}: no such file")
    if path.is_file() and not path.stat().st_size:
        raise UserError(f"--text {text}: an empty file; name one with text in it")
