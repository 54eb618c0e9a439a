"""A checksum inside a file: who reads it back knows that no bit of it has changed since it was written.

A disk, a cable or a memory that flips a bit of a float leaves a file that every library reads without a word. The
checksum is CRC-32 over the whole file: it finds every burst of up to 32 bits and all but one in four thousand million
other changes, which is all that accidents ask for, and no hash of the standard library is faster.
"""

import zlib
from pathlib import Path
from typing import BinaryIO

from oversmoothing.jobs import UserError

KEY = "seal"  # in the file's own metadata
_MARK = b"oversmoothing-crc32:"
_DIGITS = 8
BLANK = _MARK.decode() + "0" * _DIGITS  # the value that a writer leaves for `seal` to fill in
_BLOCK = 1 << 20  # bytes read at once, so that a large file takes no more memory than a small one
_REACH = 1 << 20  # bytes from either end in which it stands: metadata are the head of safetensors, the foot of Parquet


def seal(path: str | Path) -> None:
    """Write a file's checksum into it, where its metadata hold `BLANK`; do it last, before the file is renamed.

    The checksum is that of the file with `BLANK` in it, so that equal contents stay equal files.
    """
    with Path(path).open("r+b") as file:
        place = _find(file)
        checksum = _checksum(file, place)
        file.seek(place)
        file.write(checksum)


def check(path: str | Path) -> None:
    """Refuse a file whose bytes are not those that were sealed.

    A file without a seal is another program's, and passes; what else may be wrong with a file its reader says.

    Raises
    ------
    UserError
        If the checksum is not that of the file.
    """
    path = Path(path)
    if not path.is_file():
        return
    with path.open("rb") as file:
        place = _find(file)
        if place < 0:
            return
        file.seek(place)
        if file.read(_DIGITS) == _checksum(file, place):
            return
    raise UserError(f"{path}: changed or damaged since it was written (its checksum differs); delete it and run again")


def _find(file: BinaryIO) -> int:
    """Return where the checksum's digits stand; -1 without a seal."""
    tail = max(0, file.seek(0, 2) - _REACH)
    file.seek(tail)
    found = file.read(_REACH).rfind(_MARK)
    if found >= 0:
        return tail + found + len(_MARK)
    file.seek(0)
    found = file.read(_REACH).find(_MARK)
    return found + len(_MARK) if found >= 0 else -1


def _checksum(file: BinaryIO, place: int) -> bytes:
    """Return the checksum of the file with zeros for the digits at `place`."""
    file.seek(0)
    value, left = 0, place
    while block := file.read(min(_BLOCK, left)):
        value, left = zlib.crc32(block, value), left - len(block)
    value = zlib.crc32(b"0" * _DIGITS, value)
    file.seek(place + _DIGITS)
    while block := file.read(_BLOCK):
        value = zlib.crc32(block, value)
    return b"%08x" % value
