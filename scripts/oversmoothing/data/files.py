"""Local files as a corpus, and the beginning of them as a text: columns, records and plain text, compressed or not."""

import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from oversmoothing.data.columnar import read_columnar
from oversmoothing.data.contents import START, markup, misnamed
from oversmoothing.data.documents import Cut, Document, Source
from oversmoothing.data.extensions import COLUMNAR, JSON, JSON_LINES, LIST, PLAIN, SEPARATORS, format_of
from oversmoothing.data.globs import CONTROL, as_pattern, matching_files, named, why_none
from oversmoothing.data.opened import MARK, damage_named, decoded, open_bytes
from oversmoothing.data.records import read_json, read_json_lines, read_separated
from oversmoothing.jobs import UserError

logger = logging.getLogger(__name__)

READ = 1 << 20  # bytes of a text that a command reads; its tokenizer needs a hundred times as much memory
BLANK_LINE = "\n\n"
_LONE = re.compile("[\ud800-\udfff]")  # a surrogate without its other half, which UTF-8 cannot encode
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_COUNTED = {  # in the manifest: in words
    "nulls": "skipped {} null texts",
    "surrogates": "replaced {} lone surrogates by U+FFFD",
    "marks": "removed {} byte-order marks inside",
}

# Yields (place in the file, text or None); a plain text may end after so many bytes, the others where the caller stops.
Reader = Callable[[Path, str, int | None], Iterator[tuple[str, str | None]]]


class Files:
    """Source of the documents in local files, in the order of the files' paths.

    `paths` are files, folders or globs, in which ``**`` matches any number of folders. A file of columns or records
    yields one document per row, line or element, from `column`; any other file is one document, of which `most` bytes
    are read if that is given. Null texts are skipped, lone surrogates replaced, and byte-order marks inside a file
    removed; all are counted. A `UserError` names the path that matches nothing, or the file that cannot be read and the
    place in it.
    """

    def __init__(self, paths: Sequence[str], column: str = "text", most: int | None = None) -> None:
        self.column = column
        self.most = most
        self.files = find_files(paths)
        alone = {os.path.abspath(path) for path in map(named, map(os.path.expanduser, paths)) if path}  # noqa: PTH100
        # An unknown extension fails now, not in an hour.
        self.readers = [reader_of(path, str(path) in alone) for path in self.files]
        # Names are relative to the deepest common folder, so that they are the same on every machine.
        top = os.path.commonpath([path.parent for path in self.files])
        self._names = [path.relative_to(top).as_posix() for path in self.files]
        self._counts: dict[str, dict[str, int]] = {}

    def __iter__(self) -> Iterator[Document]:
        for path, name, reader in zip(self.files, self._names, self.readers, strict=True):
            counts = Counter(documents=0, nulls=0)
            try:
                for place, text in reader(path, self.column, self.most):
                    if text is None:
                        counts["nulls"] += 1
                        continue
                    counts["documents"] += 1
                    text, lone = _LONE.subn(_REPLACEMENT, text)
                    counts.update(surrogates=lone, marks=text.count(MARK))
                    yield Document(f"{name}{place}", text.replace(MARK, ""), name)
            finally:  # whoever reads the beginning alone is told as well
                told = [words.format(counts[key]) for key, words in _COUNTED.items() if counts[key]]
                if told and name not in self._counts:
                    logger.warning("%s: %s", path, ", ".join(told))
            # What few files have is left out of the manifests of all others, which remain as they were.
            self._counts[name] = {key: n for key, n in counts.items() if n or key in ("documents", "nulls")}

    def facts(self) -> dict[str, Any]:
        """Return files with their sizes in bytes and, once read, their numbers of documents and null texts."""
        return {
            "source": "files",
            "files": [
                {"name": name, "bytes": path.stat().st_size, **self._counts.get(name, {})}
                for path, name in zip(self.files, self._names, strict=True)
            ],
        }


def find_files(paths: Sequence[str]) -> list[Path]:
    """Return the files that the paths match, sorted, each once; a path without a match is an error."""
    full = [os.path.abspath(os.path.expanduser(pattern)) for pattern in paths]  # noqa: PTH100, PTH111 (a glob)
    for pattern, place in zip(paths, full, strict=True):
        if not matching_files([place]):
            raise UserError(f"{why_none(pattern)} (searched {place})")
    files = matching_files(full)
    if odd := next(filter(CONTROL.search, files), None):
        raise UserError(f"{odd!r}: a line break or another control character in a path, or no UTF-8: rename the file")
    return [Path(path) for path in files]


def read_beginning(path: str | Path, column: str = "text", most: int = READ, split_on: str | None = None) -> str:
    """Return the first `most` bytes of the documents of a file, a folder or a glob, joined by blank lines.

    `split_on` is a text between documents, in place of which there will be a blank line.
    """
    source: Source = Files([as_pattern(path)], column, most)
    source = Cut(source, {"text": split_on}) if split_on else source
    documents, size = [], 0
    for document in source:
        if document.text.strip():
            documents.append(document.text)
            size += len(document.text)  # characters, of which each has a byte at least
        if size >= most:
            break
    return BLANK_LINE.join(documents).encode()[:most].decode(errors="ignore")


def check_files(path: str | Path, column: str) -> None:
    """Raise a `UserError` if the first text of a file, or of any in a folder or a glob, cannot be read."""
    source = Files([as_pattern(path)], column, START)
    for file, reader in zip(source.files, source.readers, strict=True):
        next(reader(file, column, START), None)


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
