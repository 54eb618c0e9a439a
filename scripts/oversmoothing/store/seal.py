"""A checksum inside a file: who reads it back knows that no bit of it has changed since it was written.

A disk, a cable or a memory that flips a bit of a float leaves a file that every library reads without a word. The
checksum is CRC-32 over the whole file: it finds every burst of up to 32 bits and all but one in four thousand million
other changes, which is all that accidents ask for, and no hash of the standard library is faster.
"""

import mmap
import zlib
from pathlib import Path

from oversmoothing.jobs import UserError

KEY = "seal"  # in the file's own metadata
_MARK = b"oversmoothing-crc32:"
_DIGITS = 8
BLANK = _MARK.decode() + "0" * _DIGITS  # the value that a writer leaves for `seal` to fill in
_REACH = 1 << 20  # bytes from either end in which it stands: metadata are the head of safetensors, the foot of Parquet


def seal(path: str | Path) -> None:
    """Write a file's checksum into it, where its metadata hold `BLANK`; do it last, before the file is renamed.

    The checksum is that of the file with `BLANK` in it, so that equal contents stay equal files.
    """
    with Path(path).open("r+b") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            place = _find(content)
            checksum = _checksum(content, place)
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
    if not path.is_file() or not path.stat().st_size:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        place = _find(content)
        if place < 0 or content[place : place + _DIGITS] == _checksum(content, place):
            return
    kind = path.suffix.removeprefix(".").replace("parquet", "Parquet")
    raise UserError(f"{path}: not a complete {kind} file (changed since it was written); delete it and run again")


def _find(content: mmap.mmap) -> int:
    """Return where the checksum's digits stand; -1 without a seal."""
    found = content.rfind(_MARK, max(0, len(content) - _REACH))
    if found < 0:
        found = content.find(_MARK, 0, _REACH)
    return found + len(_MARK) if found >= 0 else -1


def _checksum(content: mmap.mmap, place: int) -> bytes:
    with memoryview(content) as view:
        value = zlib.crc32(view[:place])
        value = zlib.crc32(b"0" * _DIGITS, value)
        value = zlib.crc32(view[place + _DIGITS :], value)
    return b"%08x" % value
