"""A Parquet file's column of texts as bytes, read from Arrow's buffers without a Python object per document.

Arrow stores the texts of a batch contiguously in one UTF-8 buffer and their offsets in another, so joining a million
documents is a copy of memory.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from oversmoothing.data.files import damage_named, text_column
from oversmoothing.jobs import UserError
from oversmoothing.numerics.compiled import compiled

ROWS = 2048  # read at a time, some megabytes of web pages; affects memory use, not the result
# The odd 64-bit multiplier of Knuth's MMIX generator.
MULTIPLIER = np.uint64(6364136223846793005)


class Texts(NamedTuple):
    """A batch of n texts.

    Attributes
    ----------
    data : numpy.ndarray of uint8
    borders : numpy.ndarray of int64, shape (n + 1,)
        Text i is ``data[borders[i] : borders[i + 1]]``; a null is an empty text.
    """

    data: np.ndarray
    borders: np.ndarray

    def lengths(self) -> np.ndarray:
        """Length of each text in bytes, int64 of shape (n,)."""
        return np.diff(self.borders)

    def hashes(self) -> np.ndarray:
        """64-bit hash of each text, uint64 of shape (n,), the same on every machine."""
        return _hash(self.data, self.borders)

    def join(self, keep: np.ndarray, separator: bytes) -> np.ndarray:
        """Texts selected by the mask `keep`, joined by `separator`, as uint8; copied only if necessary."""
        if not separator and keep.all():
            return self.data[self.borders[0] : self.borders[-1]]
        return _join(self.data, self.borders, keep, np.frombuffer(separator, np.uint8))


def read_texts(path: Path, column: str = "text") -> Iterator[Texts]:
    """Yield a Parquet file's texts in batches, in the file's order."""
    row = 0
    with damage_named(path), pq.ParquetFile(path) as file:
        text_column(path, file, column)
        for batch in file.iter_batches(batch_size=ROWS, columns=[column]):
            texts = _plain(batch.column(0)).cast(pa.large_string())
            try:
                texts.validate(full=True)  # reading does not verify that a string column is UTF-8
            except pa.ArrowInvalid:
                raise UserError(f"{path}: row {row + _first_bad(texts)} is not UTF-8: correct the row") from None
            if texts.null_count:
                texts = texts.fill_null("")
            yield _view(texts)
            row += len(texts)


def _plain(texts: pa.Array) -> pa.Array:
    return texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts


def _view(texts: pa.LargeStringArray) -> Texts:
    _, borders, data = texts.buffers()
    ends = np.frombuffer(borders, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return Texts(np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8), ends)


def _first_bad(texts: pa.LargeStringArray) -> int:
    for row, value in enumerate(texts.cast(pa.large_binary())):
        try:
            (value.as_py() or b"").decode()
        except UnicodeDecodeError:
            return row
    raise AssertionError("Arrow and Python differ about what UTF-8 is")


@compiled(nogil=True)
def _hash(data, borders):  # numba infers the types
    hashes = np.empty(len(borders) - 1, np.uint64)
    for i in range(len(hashes)):
        place, end = borders[i], borders[i + 1]
        value = np.uint64(end - place)
        while place < end:
            word = np.uint64(0)
            if place + 8 <= end:  # unrolled, so that the compiler combines it into one load
                word = (
                    np.uint64(data[place])
                    | np.uint64(data[place + 1]) << np.uint64(8)
                    | np.uint64(data[place + 2]) << np.uint64(16)
                    | np.uint64(data[place + 3]) << np.uint64(24)
                    | np.uint64(data[place + 4]) << np.uint64(32)
                    | np.uint64(data[place + 5]) << np.uint64(40)
                    | np.uint64(data[place + 6]) << np.uint64(48)
                    | np.uint64(data[place + 7]) << np.uint64(56)
                )
            else:
                for j in range(end - place):
                    word |= np.uint64(data[place + j]) << np.uint64(8 * j)
            value = (value ^ word) * MULTIPLIER
            value ^= value >> np.uint64(32)
            place += 8
        hashes[i] = value
    return hashes


@compiled(nogil=True)
def _join(data, borders, keep, separator):
    size = 0
    for i in range(len(keep)):
        if keep[i]:
            size += borders[i + 1] - borders[i] + len(separator)
    joined = np.empty(max(0, size - len(separator)), np.uint8)
    place = 0
    first = True
    for i in range(len(keep)):
        if keep[i]:
            if not first:
                joined[place : place + len(separator)] = separator
                place += len(separator)
            first = False
            length = borders[i + 1] - borders[i]
            joined[place : place + length] = data[borders[i] : borders[i + 1]]
            place += length
    return joined
