"""Local files as a corpus, and the beginning of one file as a text: Parquet, JSON and plain text, compressed or not."""

import glob
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from oversmoothing.data.documents import Document
from oversmoothing.data.formats import read_plain, reader_of
from oversmoothing.data.globs import CONTROL, matching_files
from oversmoothing.jobs import UserError

logger = logging.getLogger(__name__)

READ = 1 << 20  # bytes of a text that a command reads; its tokenizer needs a hundred times as much memory
BLANK_LINE = "\n\n"


class Files:
    """Source of the documents in local files, in the order of the files' paths.

    `paths` are files or globs, in which ``**`` matches any number of folders. A Parquet file yields one document per
    row, JSON one per line or element of an array, both from `column`; any other file is one document. Null texts are
    skipped and counted. A `UserError` names the glob that matches nothing, or the file that cannot be read and the
    place in it.
    """

    def __init__(self, paths: Sequence[str], column: str = "text") -> None:
        self.column = column
        self.files = find_files(paths)
        self._readers = [reader_of(path) for path in self.files]  # an unknown extension fails now, not in an hour
        # Names are relative to the deepest common folder, so that they are the same on every machine.
        top = os.path.commonpath([path.parent for path in self.files])
        self._names = [path.relative_to(top).as_posix() for path in self.files]
        self._counts: dict[str, dict[str, int]] = {}

    def __iter__(self) -> Iterator[Document]:
        for path, name, reader in zip(self.files, self._names, self._readers, strict=True):
            documents = nulls = 0
            for place, text in reader(path, self.column, None):
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
        raise UserError(f"{odd!r}: a line break or another control character in a path, or no UTF-8: rename the file")
    return [Path(path) for path in files]


def read_beginning(path: str | Path, column: str = "text", most: int = READ) -> str:
    """Return the first `most` bytes of the documents of a file (see `Files`), joined by a blank line.

    A folder of parts, such as Spark writes, is read as one file. A file of an unknown extension is a plain text.
    """
    path = Path(path)
    try:
        path.stat()
    except OSError as error:
        raise UserError(f"{path}: it cannot be read ({error.strerror})") from None
    files = [Path(part) for part in matching_files([glob.escape(str(path))])] if path.is_dir() else [path]
    if not files:
        raise UserError(f"{path}: a folder, and not one of Parquet or JSON files as Spark writes them: name a file")
    documents, size = [], 0
    for file in files:
        for _, text in reader_of(file, read_plain)(file, column, most):
            if text and not text.isspace():
                documents.append(text)
                size += len(text)  # characters, of which each has a byte at least
            if size >= most:
                break
    return BLANK_LINE.join(documents).encode()[:most].decode(errors="ignore")
