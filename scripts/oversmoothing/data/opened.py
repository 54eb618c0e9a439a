"""A file of text as bytes and as characters: decompressed, decoded, and its damage in one line."""

import bz2
import codecs
import gzip
import io
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from oversmoothing.data.contents import START, misnamed, no_text
from oversmoothing.jobs import UserError, file_fault

LONG_WINDOW = "requires too much memory"  # as libzstd says it
MARK = "\ufeff"  # the byte-order mark
# The standard library's readers are preferred because they detect a truncated file.
DECOMPRESSORS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": lambda path: pa.input_stream(str(path), compression="zstd"),
    ".lz4": lambda path: pa.input_stream(str(path), compression="lz4"),
}
BUFFER = 1 << 20  # bytes decompressed at a time


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading; one that is compressed yields what is in it."""
    opened = DECOMPRESSORS.get(path.suffix.lower())
    if opened and not path.stat().st_size:
        raise UserError(f"{path}: 0 bytes, which is no compressed file: fetch or write the file again")
    return io.BufferedReader(opened(path), BUFFER) if opened else path.open("rb")


def decoded(data: bytes, path: Path, offset: int = 0, cut: bool = False) -> str:
    """Decode a part of a file that starts at `offset`; where it is `cut`, a character may be as well."""
    if not offset:
        if kind := no_text(data[:START], path):
            raise UserError(f"{path}: {kind}")
        start = data[:1024]
        if start.count(0) * 4 >= max(4, len(start)):  # their ASCII is valid UTF-8, with NULs
            raise UserError(f"{path}: UTF-16 or UTF-32, not UTF-8: convert the file to UTF-8")
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data, final=not cut)
    except UnicodeDecodeError as error:
        byte = f"byte {offset + error.start} is 0x{data[error.start]:02x}"
        raise UserError(f"{path}: not UTF-8: {byte}: convert the file to UTF-8") from None
    return text if offset else text.removeprefix(MARK)


def decoded_lines(file: IO[bytes], path: Path) -> Iterator[str]:
    """Yield the lines of a file with their ends; a byte-order mark remains where files were joined."""
    offset = 0
    for line in file:
        yield decoded(line, path, offset)
        offset += len(line)


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Convert a reader's errors into a `UserError` of one line that names the file."""
    try:
        yield
    except MemoryError:
        raise UserError(f"{path}: it does not fit into memory: leave it out, or split it into smaller files") from None
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, lzma.LZMAError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        if LONG_WINDOW in reason:
            fault = "compressed with a zstd window above 128 MiB (--long), which is not read here"
            raise UserError(f"{path}: {fault}: write it again with `zstd -d --long=31 FILE -c | zstd > NEW`") from None
        damage = f"truncated or damaged ({reason}): fetch or write the file again"
        raise UserError(f"{path}: {file_fault(error) or misnamed(path) or damage}") from error
