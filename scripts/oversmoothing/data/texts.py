"""A Parquet file's column of texts as bytes, read from Arrow's buffers without a Python object per document.

Arrow stores the texts of a batch contiguously in one UTF-8 buffer and their offsets in another, so joining a million
documents is a copy of memory.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oversmoothing.data.columns import text_batches
from oversmoothing.data.runs import MULTIPLIER
from oversmoothing.numerics.compiled import compiled


class Texts(NamedTuple):
    """A batch of n texts, of which text i is ``data[borders[i] : borders[i + 1]]``; a null is an empty text."""

    data: np.ndarray  # uint8
    borders: np.ndarray  # int64, shape (n + 1,)

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
        kind, parts = pa.large_binary(), [None, pa.py_buffer(self.borders), pa.py_buffer(self.data)]
        texts = pa.Array.from_buffers(kind, len(keep), parts).filter(pa.array(keep))
        joined = pc.binary_join(pa.LargeListArray.from_arrays([0, len(texts)], texts), pa.scalar(separator, kind))
        return np.frombuffer(joined[0].as_buffer(), np.uint8)


def read_texts(path: Path, column: str = "text") -> Iterator[Texts]:
    """Yield a Parquet file's texts in batches, in the file's order."""
    for texts in text_batches(path, column):
        if texts.null_count:
            texts = texts.fill_null("")
        _, borders, data = texts.buffers()
        ends = np.frombuffer(borders, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        yield Texts(np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8), ends)


@compiled(nogil=True)
def _hash(data, borders):  # numba infers the types
    hashes = np.empty(len(borders) - 1, np.uint64)
    for i in range(len(hashes)):
        place, end = borders[i], borders[i + 1]
        value = np.uint64(end - place)
        while place < end:
            word = np.uint64(0)
            if place + 8 <= end:  # of known length, so that the compiler combines it into one load
                for j in range(8):
                    word |= np.uint64(data[place + j]) << np.uint64(8 * j)
            else:
                for j in range(end - place):
                    word |= np.uint64(data[place + j]) << np.uint64(8 * j)
            value = (value ^ word) * MULTIPLIER
            value ^= value >> np.uint64(32)
            place += 8
        hashes[i] = value
    return hashes
