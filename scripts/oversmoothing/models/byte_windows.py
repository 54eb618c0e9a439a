"""What a byte view reads of each window, and its rows of a logits file."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from oversmoothing.bytewise.next_bytes import BYTES
from oversmoothing.models.logits import logits_schema, window_keys
from oversmoothing.store.parquet import vector_array


class Reading(NamedTuple):
    """The text that is read for a window: its bytes from `start` on are scored."""

    window: int
    text: bytes
    start: int

    @property
    def scored(self) -> bytes:
        return self.text[self.start :]


def readings(windows: pa.Table, evaluation: np.ndarray | None = None, context: int = 0) -> Iterator[Reading]:
    """Yield what is read for each window: up to `context` bytes before it, its prompt and its scored bytes.

    The bytes before a window are those of the evaluation split, uint8 (bytes,), whatever documents they are from, and
    may begin inside a character. A window that is no part of the split, such as a prompt of the user, has none.
    """
    offsets = windows["offset"].to_pylist() if context and evaluation is not None else [-1] * len(windows)
    rows = (windows[name].to_pylist() for name in ("window", "prompt", "scored"))
    for offset, window, prompt, scored in zip(offsets, *rows, strict=True):
        before = b"" if evaluation is None else evaluation[max(0, offset - context) : max(0, offset)].tobytes()
        yield Reading(window, before + prompt + scored, len(before) + len(prompt))


def byte_rows(reading: Reading, p: np.ndarray, dropped: np.ndarray) -> pa.RecordBatch:
    """Return rows of the logits file for a window, from its distributions (s, 256) and the mass dropped (s,)."""
    keys = window_keys(reading.window, np.frombuffer(reading.scored, np.uint8))
    with np.errstate(divide="ignore"):  # a softmax takes -inf back to 0
        log_p = np.log(p).astype(np.float32)
    columns = [vector_array(log_p), pa.array(dropped.astype(np.float32))]
    return pa.record_batch([*keys, *columns], schema=logits_schema(BYTES, special_mass=True))
