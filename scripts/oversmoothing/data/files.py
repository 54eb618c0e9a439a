"""Local files as a corpus: Parquet, and plain or compressed JSON Lines and text files."""

import bz2
import codecs
import glob
import gzip
import io
import json
import logging
import lzma
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from oversmoothing.data.columns import TIMES, UNFOLDED, damage_named, text_batches
from oversmoothing.data.documents import Document
from oversmoothing.data.globs import CONTROL, matching_files
from oversmoothing.jobs import UserError

logger = logging.getLogger(__name__)

PARQUET = (".parquet", ".pq")
JSON_LINES = (".jsonl", ".ndjson")
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


class Files:
    """Source of the documents in local files, in the order of the files' paths.

    `paths` are files or globs, in which ``**`` matches any number of folders. A Parquet file yields one document per
    row, a JSON Lines file one per line, both from `column`; any other file is one document. Null texts are skipped and
    counted. A `UserError` names the glob that matches nothing, or the file that cannot be read and the place in it.
    """

    def __init__(self, paths: Sequence[str], column: str = "text") -> None:
        if isinstance(paths, str) or not paths:
            raise UserError("a corpus of files takes a list of at least one file or glob, such as [data/*.parquet]")
        self.column = column
        self.files = find_files(paths)
        self._readers = [_reader(path) for path in self.files]  # an unknown extension fails now, not in an hour
        # Names are relative to the deepest common folder, so that they are the same on every machine.
        top = os.path.commonpath([path.parent for path in self.files])
        self._names = [path.relative_to(top).as_posix() for path in self.files]
        self._counts: dict[str, dict[str, int]] = {}

    def __iter__(self) -> Iterator[Document]:
        for path, name, reader in zip(self.files, self._names, self._readers, strict=True):
            documents = nulls = 0
            for place, text in reader(path, self.column):
                if text is None:
                    nulls += 1
                    continue
                documents += 1
                yield Document(f"{name}{place}", text)
            if nulls and name not in self._counts:
                logger.warning("%s: skipped %d null texts", path, nulls)
            self._counts[name] = {"documents": documents, "nulls": nulls}

    def facts(self) -> dict[str, Any]:
        """Files with their sizes in bytes and, once read, their numbers of documents and null texts."""
        return {
            "source": "files",
            "files": [
                {"name": name, "bytes": path.stat().st_size, **self._counts.get(name, {})}
                for path, name in zip(self.files, self._names, strict=True)
            ],
        }


def find_files(paths: Sequence[str]) -> list[Path]:
    """Return the files that the globs match, sorted by path, each once; a glob without a match is an error."""
    full = [os.path.abspath(os.path.expanduser(pattern)) for pattern in paths]  # noqa: PTH100, PTH111 (a glob)
    for pattern, place in zip(paths, full, strict=True):
        if not matching_files([place]):
            hint = f"; it is a folder: write {pattern.rstrip('/')}/**/*.txt" if glob.glob(place) else ""  # noqa: PTH207
            raise UserError(f"no file matches {pattern!r} (searched {place}){hint}")
    files = matching_files(full)
    if odd := next(filter(CONTROL.search, files), None):
        raise UserError(f"{odd!r}: a line break or another control character in a path: rename the file")
    return [Path(path) for path in files]


def _reader(path: Path) -> Callable[[Path, str], Iterator[tuple[str, str | None]]]:
    """Select by extension the function that yields (place in the file, text or None)."""
    suffix = path.suffix.lower()
    inner = path.with_suffix("").suffix.lower() if suffix in DECOMPRESSORS else suffix
    if suffix in PARQUET:
        return _read_parquet
    if inner in JSON_LINES:
        return _read_json_lines
    if inner in PLAIN:
        return _read_plain
    if inner in PARQUET:
        raise UserError(f"{path}: Parquet compresses its own columns: decompress the file ({suffix}) first")
    known = " ".join((*PARQUET, *JSON_LINES, *PLAIN))
    raise UserError(
        f"{path}: extension {inner or suffix or '(none)'!r} is not known: name only files "
        f"that end in one of {known} (all but Parquet also with {' '.join(DECOMPRESSORS)})"
    )


def _read_parquet(path: Path, column: str) -> Iterator[tuple[str, str | None]]:
    with damage_named(path):
        texts = chain.from_iterable(batch.to_pylist() for batch in text_batches(path, column))
        yield from ((f":{row}", text) for row, text in enumerate(texts))


def _read_json_lines(path: Path, column: str) -> Iterator[tuple[str, str | None]]:
    offset = 0
    with damage_named(path), _open(path) as file:
        for number, line in enumerate(file, start=1):
            text = _decode(line, path, offset, first=number == 1)
            offset += len(line)
            if text.strip():
                yield f":{number}", _field(text, column, path, number)


def _field(line: str, column: str, path: Path, number: int) -> str | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", type(error).__name__)
        raise UserError(f"{path}: line {number} is not JSON ({reason}): correct or remove the line") from None
    if not isinstance(record, dict) or column not in record:
        have = f"it has: {', '.join(record)}" if isinstance(record, dict) else "it is not an object"
        fault = f"line {number} has no field {column!r} ({have})"
        raise UserError(f"{path}: {fault}: set corpus column to the field with the text")
    text = record[column]
    if text is not None and not isinstance(text, str):
        fault = f"{column!r} is {type(text).__name__}, not a string"
        raise UserError(f"{path}: line {number}: {fault}: set corpus column to a field with text")
    # JSON can contain a lone surrogate, which UTF-8 cannot encode.
    return text if text is None else text.encode("utf-8", "replace").decode()


def _read_plain(path: Path, _: str) -> Iterator[tuple[str, str | None]]:
    with damage_named(path), _open(path) as file:
        yield "", _decode(file.read(), path, 0, first=True)


def _decode(data: bytes, path: Path, offset: int, first: bool) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        byte = f"byte {offset + error.start} is 0x{data[error.start]:02x}"
        raise UserError(f"{path}: not UTF-8: {byte}: convert the file to UTF-8") from None
    return text.removeprefix(codecs.BOM_UTF8.decode()) if first else text


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
