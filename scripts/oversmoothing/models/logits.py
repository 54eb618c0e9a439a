"""Schemas and rows of a model's logits and hidden states, one row per scored byte."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from oversmoothing.store.parquet import vector_array, vector_type

POSITION_FIELDS = [("window", pa.int32()), ("position", pa.int32()), ("target", pa.int32())]


def logits_schema(vocabulary: int, special_mass: bool = False) -> pa.Schema:
    """Return the schema of a logits file: the keys, ``logits``, and for some truths ``special_mass``.

    ``logits`` is float32[v], and ``special_mass`` float32.

    ``position`` counts from 0 at the first scored byte of a window, and ``target`` is the byte at that position.
    ``special_mass`` is the probability of the ids that are not bytes, before they are excluded (thesis 3.2).
    """
    return pa.schema([*POSITION_FIELDS, ("logits", vector_type(vocabulary)), *with_special_mass(special_mass)])


def with_special_mass(held: bool) -> list[tuple[str, pa.DataType]]:
    """Return the last column of a file of logits, of a model that has special ids."""
    return [("special_mass", pa.float32())] if held else []


def hidden_schema(width: int, rank: int) -> pa.Schema:
    """Return the schema of a hidden-state file: the keys, ``pre`` and ``post`` (see `GPT.hidden`)."""
    return pa.schema([*POSITION_FIELDS, ("pre", vector_type(width)), ("post", vector_type(rank))])


@dataclass(frozen=True)
class WindowStates:
    """Logits and hidden states of a model on one window of s scored bytes; all arrays but the targets are float32."""

    window: int
    target: np.ndarray  # int32 (s,), the scored bytes
    logits: np.ndarray  # (s, v): row i is the distribution of byte i given the prompt and the bytes before it
    pre: np.ndarray  # (s, width)
    post: np.ndarray  # (s, r)
    special_mass: np.ndarray | None = None  # (s,), probability of the ids that are not bytes, if there are any

    def logits_batch(self) -> pa.RecordBatch:
        """Return rows of the logits file."""
        schema = logits_schema(self.logits.shape[1], self.special_mass is not None)
        return self.batch(schema, vector_array(self.logits))

    def hidden_batch(self) -> pa.RecordBatch:
        """Return rows of the hidden-state file."""
        schema = hidden_schema(self.pre.shape[1], self.post.shape[1])
        return self.batch(schema, vector_array(self.pre), vector_array(self.post))

    def batch(self, schema: pa.Schema, *columns: pa.Array) -> pa.RecordBatch:
        """Return rows of a file: the keys, the columns and, where the schema has it, the special mass."""
        special = [pa.array(self.special_mass, pa.float32())] if "special_mass" in schema.names else []
        return pa.record_batch([*window_keys(self.window, self.target), *columns, *special], schema=schema)


def window_keys(window: int, target: np.ndarray) -> list[pa.Array]:
    """Return columns ``window``, ``position`` and ``target`` of one window."""
    columns = (np.full(len(target), window), np.arange(len(target)), target)
    return [pa.array(column.astype(np.int32)) for column in columns]


def special_mass_facts(windows: Sequence[np.ndarray]) -> dict[str, str]:
    """Return entries of the metadata of a file of logits, from the special mass (s,) of each window."""
    mass = np.concatenate(windows)
    return {"special_mass_mean": f"{mass.mean(dtype=np.float64):.6g}", "special_mass_max": f"{mass.max():.6g}"}
