"""The texts in one file: Parquet, JSON and JSON Lines, and plain text, compressed or not."""

import bz2
import codecs
import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from oversmoothing.data.columns import MARK, NAME_COLUMN, TIMES, UNFOLDED, damage_named, text_batches
from oversmoothing.jobs import UserError

PARQUET = (".parquet", ".pq")
JSON_LINES = (".jsonl", ".ndjson")
JSON = ".json"  # an array, or lines, as many corpora have under this name
CORRECT = "correct or remove the line"
PLAIN = (".txt", ".md", ".text")
# The standard library's readers are preferred because they detect a truncated file.
DECOMPRESSORS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": lambda path: pa.input_stream(str(path), compression="zstd"),
    ".lz4": lambda path: pa.input_stream(str(path), compression="lz4"),
}
BUFFER = 1 << 20  # bytes decompressed at a time
MARKS = {  # byte-order marks of other encodings, the longest first
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}

# Yields (place in the file, text or None); a plain text may end after so many bytes, the others where the caller stops.
Reader = Callable[[Path, str, int | None], Iterator[tuple[str, str | None]]]


def reader_of(path: Path, other: Reader | None = None) -> Reader:
    """Return the reader of a file by its extension; of an unknown one `other`, or else a `UserError`."""
    suffix = path.suffix.lower()
    inner = path.with_suffix("").suffix.lower() if suffix in DECOMPRESSORS else suffix
    if suffix in PARQUET:
        return _read_parquet
    if inner in PARQUET:
        raise UserError(f"{path}: Parquet compresses its own columns: decompress the file ({suffix}) first")
    if inner in JSON_LINES:
        return _read_json_lines
    if inner == JSON:
        return _read_json
    if inner in PLAIN:
        return read_plain
    if other:
        return other
    known = " ".join((*PARQUET, *JSON_LINES, JSON, *PLAIN))
    raise UserError(
        f"{path}: extension {inner or suffix or '(none)'!r} is not known: name only files "
        f"that end in one of {known} (all but Parquet also with {' '.join(DECOMPRESSORS)})"
    )


def read_plain(path: Path, _: str, most: int | None = None) -> Iterator[tuple[str, str | None]]:
    """Yield a file as one text, or its first `most` bytes."""
    with damage_named(path), _open(path) as file:
        data = file.read(-1 if most is None else most)
        yield "", _decode(data, path, cut=most is not None and bool(file.read(1)))


def _read_parquet(path: Path, column: str, _: int | None) -> Iterator[tuple[str, str | None]]:
    with damage_named(path):
        texts = chain.from_iterable(batch.to_pylist() for batch in text_batches(path, column))
        yield from ((f":{row}", text) for row, text in enumerate(texts))


def _read_json_lines(path: Path, column: str, _: int | None) -> Iterator[tuple[str, str | None]]:
    offset = 0
    with damage_named(path), _open(path) as file:
        for number, line in enumerate(file, start=1):
            text = _decode(line, path, offset)
            offset += len(line)
            if text.strip():
                place = f"line {number}"
                yield f":{number}", _field(_parsed(text, path, place), column, path, place)


def _read_json(path: Path, column: str, most: int | None) -> Iterator[tuple[str, str | None]]:
    with damage_named(path), _open(path) as file:
        data = file.read(BUFFER)
        if _decode(data, path, cut=True).lstrip()[:1] == "[":
            records = _parsed(_decode(data + file.read(), path), path, "it")
            for number, record in enumerate(records, start=1):
                yield f":{number}", _field(record, column, path, f"element {number}")
            return
    yield from _read_json_lines(path, column, most)


def _parsed(text: str, path: Path, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", type(error).__name__)
        array_too = JSON in map(str.lower, path.suffixes)
        remedy = "a file of this name has one object a line, or an array of objects" if array_too else CORRECT
        raise UserError(f"{path}: {place} is not JSON ({reason}): {remedy}") from None


def _field(record: Any, column: str, path: Path, place: str) -> str | None:
    if not isinstance(record, dict) or column not in record:
        have = f"it has: {', '.join(record)}" if isinstance(record, dict) else "it is not an object"
        raise UserError(f"{path}: {place} has no field {column!r} ({have}): {NAME_COLUMN}")
    text = record[column]
    if text is not None and not isinstance(text, str):
        fault = f"{column!r} is {type(text).__name__}, not a string"
        raise UserError(f"{path}: {place}: {fault}: {NAME_COLUMN}")
    # JSON can contain a lone surrogate, which UTF-8 cannot encode.
    return text if text is None else text.encode("utf-8", "replace").decode().removeprefix(MARK)


def _decode(data: bytes, path: Path, offset: int = 0, cut: bool = False) -> str:
    """Decode a part of a file that starts at `offset`; where it is `cut`, a character may be as well."""
    if not offset:
        _check_encoding(data, path)
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data, final=not cut)
    except UnicodeDecodeError as error:
        byte = f"byte {offset + error.start} is 0x{data[error.start]:02x}"
        raise UserError(f"{path}: not UTF-8: {byte}: convert the file to UTF-8") from None
    return text if offset else text.removeprefix(MARK)


def _check_encoding(data: bytes, path: Path) -> None:
    """Refuse UTF-16 and UTF-32 by name: without a mark their ASCII is valid UTF-8, with a NUL before or behind each."""
    name = next((name for mark, name in MARKS.items() if data.startswith(mark)), None)
    start = data[:1024]
    if name is None and start.count(0) * 4 >= max(4, len(start)):
        name = "UTF-16 or UTF-32"
    if name:
        raise UserError(f"{path}: {name}, not UTF-8: convert the file to UTF-8")


def _open(path: Path) -> IO[bytes]:
    opened = DECOMPRESSORS.get(path.suffix.lower())
    if opened is None:
        return path.open("rb")
    if not path.stat().st_size:
        raise UserError(f"{path}: 0 bytes, which is no compressed file: fetch or write the file again")
    return io.BufferedReader(_Unfolded(path, opened(path)), BUFFER)


class _Unfolded(io.RawIOBase):
    """The content of a compressed file, up to a size to which no text unfolds."""

    def __init__(self, path: Path, file: Any) -> None:
        self.path, self.file = path, file
        self.size = path.stat().st_size
        self.most = self.left = max(UNFOLDED, TIMES * self.size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self.file.readinto(buffer)
        self.left -= count
        if self.left < 0:
            fault = f"its {self.size:,} bytes unfold to more than {self.most:,}, as no text does"
            raise UserError(f"{self.path}: {fault}: leave the file out")
        return count

    def close(self) -> None:
        self.file.close()
        super().close()
