"""A checksum inside a file, which reveals any change since the file was written.

A bit flipped by a disk, a cable or memory leaves a float that every library reads without complaint. The checksum is a
CRC-32 over the whole file: it detects every burst of up to 32 bits and all but one in four thousand million other
changes, which is enough against accidents, and no hash in the standard library is faster.
"""

import zlib
from pathlib import Path
from typing import BinaryIO

from oversmoothing.jobs import UserError
from oversmoothing.store.atomic import no_fault_of

REMEDY = "delete it and run again"
KEY = "seal"  # in the file's metadata
_MARK = b"oversmoothing-crc32:"
_DIGITS = 8
BLANK = _MARK.decode() + "0" * _DIGITS  # the value that a writer leaves for `seal` to fill in
_BLOCK = 1 << 20  # bytes read at a time
_REACH = 1 << 20  # bytes searched at either end: metadata come first in safetensors and last in Parquet


def seal(path: str | Path) -> None:
    """Write a file's checksum into it, in place of the `BLANK` in its metadata; call this last, before it is renamed.

    The checksum is that of the file with `BLANK` in it, so that equal contents give identical files.
    """
    with Path(path).open("r+b") as file:
        place = _find(file)
        checksum = _checksum(file, place)
        file.seek(place)
        file.write(checksum)


def check(path: str | Path, remedy: str = REMEDY) -> None:
    """Raise a `UserError`, whose message ends with `remedy`, if the bytes of a file are not those that were sealed.

    Files without a seal come from other programs and pass; other faults are reported by the file's reader.
    """
    path = Path(path)
    if not path.is_file():
        return
    with no_fault_of(path), path.open("rb") as file:
        place = _find(file)
        if place < 0:
            return
        file.seek(place)
        if file.read(_DIGITS) == _checksum(file, place):
            return
    damage = "changed or damaged since it was written (its checksum differs)"
    raise UserError(f"{path}: {damage}; {remedy}")


def sealed_with(path: str | Path) -> str:
    """Return the checksum that a file was sealed with; "" for a file without a seal."""
    with Path(path).open("rb") as file:
        place = _find(file)
        file.seek(max(place, 0))
        return file.read(_DIGITS).decode() if place >= 0 else ""


def _find(file: BinaryIO) -> int:
    """Return the position of the checksum's digits; -1 if there is no seal."""
    tail = max(0, file.seek(0, 2) - _REACH)
    for start, find in ((tail, bytes.rfind), (0, bytes.find)):
        file.seek(start)
        if (mark := find(file.read(_REACH), _MARK)) >= 0:
            return start + mark + len(_MARK)
    return -1


def _checksum(file: BinaryIO, place: int) -> bytes:
    """Return the checksum of the file with zeros in place of the digits at `place`."""
    file.seek(0)
    value, left = 0, place
    while block := file.read(min(_BLOCK, left)):
        value, left = zlib.crc32(block, value), left - len(block)
    value = zlib.crc32(b"0" * _DIGITS, value)
    file.seek(place + _DIGITS)
    while block := file.read(_BLOCK):
        value = zlib.crc32(block, value)
    return b"%08x" % value
