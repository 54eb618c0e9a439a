"""The text that an argument names, before PyTorch is imported."""

from pathlib import Path

from oversmoothing.data.files import check_files
from oversmoothing.data.globs import named
from oversmoothing.jobs import UserError


def check_text(text: str | Path, column: str) -> None:
    """Raise a `UserError` if ``--text`` names nothing, an empty file, or a file whose first text cannot be read."""
    path = Path(text)
    if not path.exists() and named(str(text)):
        raise UserError(f"--text {text}: no such file")
    if path.is_file() and not path.stat().st_size:
        raise UserError(f"--text {text}: an empty file; name one with text in it")
    check_files(text, column)
