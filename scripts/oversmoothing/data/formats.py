"""The reader of a file's texts, by the end of its name: columns, records and plain text, compressed or not."""

from collections.abc import Callable, Iterator
from pathlib import Path

from oversmoothing.data.columnar import read_columnar
from oversmoothing.data.contents import markup, misnamed
from oversmoothing.data.extensions import COLUMNAR, JSON, JSON_LINES, LIST, PLAIN, SEPARATORS, format_of
from oversmoothing.data.opened import damage_named, decoded, open_bytes
from oversmoothing.data.records import read_json, read_json_lines, read_separated
from oversmoothing.jobs import UserError

# Yields (place in the file, text or None); a plain text may end after so many bytes, the others where the caller stops.
Reader = Callable[[Path, str, int | None], Iterator[tuple[str, str | None]]]


def reader_of(path: Path, named: bool = False) -> Reader:
    """Return the reader of a file; a `UserError` for an unknown extension, unless the user `named` just this file."""
    suffix, kind = path.suffix.lower(), format_of(path)
    if kind in COLUMNAR:
        if kind != suffix:
            raise UserError(f"{path}: Parquet and Arrow compress their own columns: decompress the file first")
        return read_columnar
    if kind in JSON_LINES:
        return read_json_lines
    if kind == JSON:
        return read_json
    if kind in SEPARATORS:
        return read_separated
    if kind in PLAIN:
        return read_plain
    fault = markup(path) or (None if named else misnamed(path))
    if not fault and named:
        return read_plain
    fault = fault or f"extension {kind or suffix or '(none)'!r} is not known: name only files that end in one of {LIST}"
    raise UserError(f"{path}: {fault}")


def read_plain(path: Path, _: str, most: int | None = None) -> Iterator[tuple[str, str | None]]:
    """Yield a file as one text, or its first `most` bytes."""
    with damage_named(path), open_bytes(path) as file:
        data = file.read(-1 if most is None else most)
        yield "", decoded(data, path, cut=most is not None and bool(file.read(1)))
