"""Streaming Parquet files: atomic writers that record provenance, and readers with clear errors."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from oversmoothing.jobs import UserError, file_fault
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.identity import check_identity, identity, texts
from oversmoothing.store.seal import BLANK, KEY, check, seal


@contextmanager
def open_writer(path: str | Path, schema: pa.Schema, provenance: Mapping[str, str]) -> Iterator[pq.ParquetWriter]:
    """Open a Parquet file for writing row group by row group; it appears under `path` when complete.

    All columns are compressed with zstd. Vectors of float32 (``fixed_size_list``) are stored with BYTE_STREAM_SPLIT and
    without a dictionary: their mantissas compress badly, their exponents well. The key-value metadata hold
    `provenance`, the file's identity and its seal.
    """
    vectors = [f"{field.name}.list.element" for field in schema if pa.types.is_fixed_size_list(field.type)]
    scalars = [field.name for field in schema if not pa.types.is_fixed_size_list(field.type)]
    with atomic_path(path) as temporary:
        with pq.ParquetWriter(
            temporary,
            schema.with_metadata({**provenance, **identity(path)}),
            compression="zstd",
            use_dictionary=scalars,
            column_encoding=dict.fromkeys(vectors, "BYTE_STREAM_SPLIT") or None,
        ) as writer:
            yield writer
            # By now the job has read its inputs; a schema's metadata would stand in the file twice.
            writer.add_key_value_metadata({**texts(), KEY: BLANK})
        seal(temporary)


def write_table(path: str | Path, table: pa.Table, provenance: Mapping[str, str]) -> None:
    """Write a small table as one row group (see `open_writer`)."""
    with open_writer(path, table.schema, provenance) as writer:
        writer.write_table(table)


def read_table(path: str | Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a whole table, or only `columns` of it.

    A `UserError` names the file, and the column or setting, if it is missing, truncated, changed since it was sealed,
    lacks a column, is another file than its path says, or was made with settings other than those the job asks for.
    """
    with open_reader(path, columns or ()) as reader:
        return reader.read(columns=columns)


def read_groups(path: str | Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield `columns` one row group at a time, in bounded memory; errors as in `read_table`."""
    with open_reader(path, columns) as reader:
        for group in range(reader.num_row_groups):
            yield reader.read_row_group(group, columns=list(columns)).combine_chunks().to_batches()[0]


@contextmanager
def open_reader(path: str | Path, columns: Sequence[str] = ()) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file that has `columns`; errors, also of reads inside the block, as in `read_table`."""
    check(path)
    try:
        with pq.ParquetFile(path) as reader:
            metadata = reader.metadata.metadata or {}
            check_identity(path, {_decoded(key): _decoded(value) for key, value in metadata.items()})
            names = reader.schema_arrow.names
            if missing := [name for name in columns if name not in names]:
                raise UserError(f"{path}: no column {missing[0]!r} (it has: {', '.join(names)})")
            yield reader
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        fault = file_fault(error) or f"not a complete Parquet file ({reason}); delete it and run again"
        raise UserError(f"{path}: {fault}") from error


def _decoded(text: bytes) -> str:
    return text.decode(errors="replace")  # a flipped bit in the name of the seal does no harm


def vectors(column: pa.Array) -> np.ndarray:
    """View a ``fixed_size_list<float32>[d]`` array of n rows as an (n, d) NumPy array, without a copy."""
    return column.flatten().to_numpy(zero_copy_only=True).reshape(len(column), column.type.list_size)


def vector_array(values: np.ndarray) -> pa.FixedSizeListArray:
    """Convert an (n, d) float array to a ``fixed_size_list<float32>[d]`` array."""
    flat = np.ascontiguousarray(values, dtype=np.float32).reshape(-1)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat), values.shape[1])


def vector_type(width: int) -> pa.DataType:
    """Return the type ``fixed_size_list<float32>[width]``."""
    return pa.list_(pa.float32(), width)
