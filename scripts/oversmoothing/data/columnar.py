"""The texts in a column of a Parquet or an Arrow file."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from oversmoothing.data.extensions import ARROW
from oversmoothing.data.opened import MARK, damage_named
from oversmoothing.data.records import NAME_COLUMN, chats
from oversmoothing.jobs import UserError

ROWS = 2048  # read at a time, some megabytes of web pages; affects memory use, not the result
TEXTS = {"string", "large_string", "string_view", "binary", "large_binary", "binary_view"}  # some writers store bytes
FEATHER_1 = b"FEA1"


def read_columnar(path: Path, column: str, _: int | None) -> Iterator[tuple[str, str | None]]:
    """Yield the rows of a column, as `formats.Reader`."""
    texts = chain.from_iterable(batch.to_pylist() for batch in text_batches(path, column))
    yield from ((f":{row}", text) for row, text in enumerate(texts))


def text_batches(path: Path, column: str) -> Iterator[pa.LargeStringArray]:
    """Yield a file's column of texts in batches, in order: UTF-8 without a byte-order mark, or null."""
    row = 0
    batches = _arrow if path.suffix.lower() in ARROW else _parquet
    with damage_named(path):
        for texts in batches(path, column):
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


def _parquet(path: Path, column: str) -> Iterator[pa.Array]:
    with pq.ParquetFile(path) as file:
        _check_column(path, file.schema_arrow, column)
        for batch in file.iter_batches(batch_size=ROWS, columns=[column]):
            # By its name: beside "a.b" a member "b" of a struct "a" is read too.
            yield batch.column(batch.schema.get_field_index(column))


def _arrow(path: Path, column: str) -> Iterator[pa.Array]:
    """Yield from a file, or from a stream, which has the same names."""
    with path.open("rb") as opened:
        if opened.read(len(FEATHER_1)) == FEATHER_1:
            raise UserError(f"{path}: Feather of version 1: write it again with a newer pandas or pyarrow")
    with pa.memory_map(str(path)) as source:
        try:
            reader: pa.RecordBatchReader | pa.ipc.RecordBatchFileReader = pa.ipc.open_file(source)
            batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
        except pa.ArrowInvalid:
            source.seek(0)
            batches = reader = pa.ipc.open_stream(source)
        _check_column(path, reader.schema, column)
        for batch in batches:
            texts = batch.column(batch.schema.get_field_index(column))
            for start in range(0, len(texts), ROWS):
                part = texts.slice(start, ROWS)
                _check_offsets(part)
                yield part


def _check_offsets(texts: pa.Array) -> None:
    """Check what tells where texts begin and end, before anything follows it; `text_batches` names what is no UTF-8."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise


def _check_column(path: Path, schema: pa.Schema, column: str) -> None:
    """Check that a file has one column of texts of this name."""
    if schema.names.count(column) > 1:
        raise UserError(f"{path}: {schema.names.count(column)} columns are called {column!r}: rename all but one")
    if column not in schema.names:
        have = ", ".join(schema.names)
        raise UserError(f"{path}: no column {column!r} (it has: {have}): {chats(schema.names) or NAME_COLUMN}")
    kind = schema.field(column).type
    text = kind.value_type if pa.types.is_dictionary(kind) else kind
    if str(text) not in TEXTS and not pa.types.is_null(kind):  # of a part without a text
        raise UserError(f"{path}: column {column!r} is of type {kind}, not string: {chats([column]) or NAME_COLUMN}")
