"""The texts in one file: Parquet, JSON and JSON Lines, and plain text, compressed or not."""

import bz2
import codecs
import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from oversmoothing.jobs import UserError, file_fault

LONG_WINDOW = "requires too much memory"  # as libzstd says it
ROWS = 2048  # read at a time, some megabytes of web pages; affects memory use, not the result
NAME_COLUMN = "name the column with the text (corpus.column, or --column)"
TEXTS = {"string", "large_string", "string_view", "binary", "large_binary", "binary_view"}  # some writers store bytes
MARK = "\ufeff"  # the byte-order mark
PARQUET = (".parquet", ".pq")
JSON_LINES = (".jsonl", ".ndjson")
JSON = ".json"  # an array, or lines, as many corpora have under this name
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


def text_batches(path: Path, column: str) -> Iterator[pa.LargeStringArray]:
    """Yield a Parquet file's column of texts in batches, in order: UTF-8 without a byte-order mark, or null."""
    row = 0
    with damage_named(path), pq.ParquetFile(path) as file:
        _check_column(path, file, column)
        for batch in file.iter_batches(batch_size=ROWS, columns=[column]):
            texts = batch.column(0)
            texts = texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts
            texts = texts.cast(pa.large_string(), safe=False)
            try:
                texts.validate(full=True)  # neither reading nor this cast verifies UTF-8
            except pa.ArrowInvalid as error:
                place = int(str(error).split()[-1])  # "Invalid UTF8 sequence at string index 7"
                raise UserError(f"{path}: row {row + place} is not UTF-8: correct the row") from None
            marked = pc.starts_with(texts, MARK)
            yield pc.if_else(marked, pc.utf8_slice_codeunits(texts, 1), texts) if pc.any(marked).as_py() else texts
            row += len(texts)


def read_plain(path: Path, _: str, most: int | None = None) -> Iterator[tuple[str, str | None]]:
    """Yield a file as one text, or its first `most` bytes."""
    with damage_named(path), _open(path) as file:
        data = file.read(-1 if most is None else most)
        yield "", _decode(data, path, cut=most is not None and bool(file.read(1)))


def _read_parquet(path: Path, column: str, _: int | None) -> Iterator[tuple[str, str | None]]:
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
        lines = "a file of this name has one object a line, or an array of objects"
        remedy = lines if JSON in map(str.lower, path.suffixes) else "correct or remove the line"
        raise UserError(f"{path}: {place} is not JSON ({reason}): {remedy}") from None


def _field(record: Any, column: str, path: Path, place: str) -> str | None:
    if not isinstance(record, dict) or column not in record:
        have = f"it has: {', '.join(record)}" if isinstance(record, dict) else "it is not an object"
        raise UserError(f"{path}: {place} has no field {column!r} ({have}): {NAME_COLUMN}")
    text = record[column]
    if text is not None and not isinstance(text, str):
        raise UserError(f"{path}: {place}: {column!r} is {type(text).__name__}, not a string: {NAME_COLUMN}")
    # JSON can contain a lone surrogate, which UTF-8 cannot encode.
    return text if text is None else text.encode("utf-8", "replace").decode().removeprefix(MARK)


def _decode(data: bytes, path: Path, offset: int = 0, cut: bool = False) -> str:
    """Decode a part of a file that starts at `offset`; where it is `cut`, a character may be as well."""
    start = data[:1024]
    if not offset and start.count(0) * 4 >= max(4, len(start)):  # their ASCII is valid UTF-8, with NULs
        raise UserError(f"{path}: UTF-16 or UTF-32, not UTF-8: convert the file to UTF-8")
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data, final=not cut)
    except UnicodeDecodeError as error:
        byte = f"byte {offset + error.start} is 0x{data[error.start]:02x}"
        raise UserError(f"{path}: not UTF-8: {byte}: convert the file to UTF-8") from None
    return text if offset else text.removeprefix(MARK)


def _open(path: Path) -> IO[bytes]:
    opened = DECOMPRESSORS.get(path.suffix.lower())
    if opened and not path.stat().st_size:
        raise UserError(f"{path}: 0 bytes, which is no compressed file: fetch or write the file again")
    return io.BufferedReader(opened(path), BUFFER) if opened else path.open("rb")


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
        fault = file_fault(error) or f"truncated or damaged ({reason}): fetch or write the file again"
        raise UserError(f"{path}: {fault}") from error


def _check_column(path: Path, file: pq.ParquetFile, column: str) -> None:
    """Check that a file has one column of texts of this name."""
    schema = file.schema_arrow
    if schema.names.count(column) > 1:
        raise UserError(f"{path}: {schema.names.count(column)} columns are called {column!r}: rename all but one")
    if column not in schema.names:
        have = ", ".join(schema.names)
        raise UserError(f"{path}: no column {column!r} (it has: {have}): {NAME_COLUMN}")
    kind = schema.field(column).type
    text = kind.value_type if pa.types.is_dictionary(kind) else kind
    if str(text) not in TEXTS:
        raise UserError(f"{path}: column {column!r} is of type {kind}, not string: {NAME_COLUMN}")
