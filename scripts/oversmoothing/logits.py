"""The rows that hold a model's logits and hidden states, one per scored byte."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from oversmoothing.store.parquet import vector_array, vector_type

KEYS = [("window", pa.int32()), ("position", pa.int32()), ("target", pa.int32())]


def logits_schema(vocabulary: int) -> pa.Schema:
    """Return the columns of a logits file: the keys and ``logits``, float32[v].

    ``position`` counts from 0 at the first scored byte of a window; ``target`` is that byte.
    """
    return pa.schema([*KEYS, ("logits", vector_type(vocabulary))])


def hidden_schema(width: int, rank: int) -> pa.Schema:
    """Return the columns of a hidden-state file: the keys, ``pre`` and ``post`` (see `GPT.hidden`)."""
    return pa.schema([*KEYS, ("pre", vector_type(width)), ("post", vector_type(rank))])


@dataclass(frozen=True)
class WindowStates:
    """What a model makes of one window of s scored bytes.

    Attributes
    ----------
    window : int
    target : int32 array, shape (s,)
        The scored bytes.
    logits : float32 array, shape (s, v)
        Row i is the distribution of byte i given the prompt and the bytes before it.
    pre, post : float32 arrays, shapes (s, width) and (s, r)
    """

    window: int
    target: np.ndarray
    logits: np.ndarray
    pre: np.ndarray
    post: np.ndarray

    def keys(self) -> list[pa.Array]:
        """Return the key columns as Arrow arrays."""
        return window_keys(self.window, self.target)

    def logits_batch(self) -> pa.RecordBatch:
        """Return the rows of the logits file."""
        schema = logits_schema(self.logits.shape[1])
        return pa.record_batch([*self.keys(), vector_array(self.logits)], schema=schema)

    def hidden_batch(self) -> pa.RecordBatch:
        """Return the rows of the hidden-state file."""
        schema = hidden_schema(self.pre.shape[1], self.post.shape[1])
        return pa.record_batch([*self.keys(), vector_array(self.pre), vector_array(self.post)], schema=schema)


def window_keys(window: int, target: np.ndarray) -> list[pa.Array]:
    """Return the columns ``window``, ``position``, ``target`` of one window."""
    rows = len(target)
    return [
        pa.array(np.full(rows, window, np.int32)),
        pa.array(np.arange(rows, dtype=np.int32)),
        pa.array(target.astype(np.int32)),
    ]
