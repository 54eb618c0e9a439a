"""The column of texts of a Parquet file, and what is said of files that cannot be read."""

import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from oversmoothing.jobs import UserError

LONG_WINDOW = "requires too much memory"  # as libzstd says it
ROWS = 2048  # read at a time, some megabytes of web pages; affects memory use, not the result
NAME_COLUMN = "name the column with the text (corpus.column, or --column)"
UNFOLDED, TIMES = 1 << 26, 1000  # a column chunk or file above this size and this compression ratio cannot be text
# Some writers store texts as bytes.
_STRINGS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
TEXTS = (*_STRINGS, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
MARK = "\ufeff"  # the byte-order mark


def text_batches(path: Path, column: str) -> Iterator[pa.LargeStringArray]:
    """Yield a Parquet file's column of texts in batches, in order: UTF-8 without a byte-order mark, or null."""
    row = 0
    with damage_named(path), pq.ParquetFile(path) as file:
        _check_column(path, file, column)
        for batch in file.iter_batches(batch_size=ROWS, columns=[column]):
            texts = batch.column(0)
            texts = texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts
            texts = texts.cast(pa.large_string(), safe=False)  # of bytes, these are not verified to be UTF-8, see below
            try:
                texts.validate(full=True)  # reading does not verify that a string column is UTF-8
            except pa.ArrowInvalid:
                raise UserError(f"{path}: row {row + _first_bad(texts)} is not UTF-8: correct the row") from None
            marked = pc.starts_with(texts, MARK)
            yield pc.if_else(marked, pc.utf8_slice_codeunits(texts, 1), texts) if pc.any(marked).as_py() else texts
            row += len(texts)


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Convert a reader's errors into a `UserError` of one line that names the file."""
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{path}: the file is gone: it was there when the globs were matched") from None
    except PermissionError:
        raise UserError(f"{path}: no permission to read it: change its mode") from None
    except MemoryError:
        raise UserError(f"{path}: it does not fit into memory: leave it out, or split it into smaller files") from None
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, lzma.LZMAError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        if LONG_WINDOW in reason:
            fault = "compressed with a zstd window above 128 MiB (--long), which is not read here"
            raise UserError(f"{path}: {fault}: write it again with `zstd -d --long=31 FILE -c | zstd > NEW`") from None
        raise UserError(f"{path}: truncated or damaged ({reason}): fetch or write the file again") from error


def _check_column(path: Path, file: pq.ParquetFile, column: str) -> None:
    """Check that a file has one column of texts of this name and that none of its chunks is a decompression bomb."""
    schema = file.schema_arrow
    if schema.names.count(column) > 1:
        raise UserError(f"{path}: {schema.names.count(column)} columns are called {column!r}: rename all but one")
    if column not in schema.names:
        have = ", ".join(schema.names)
        raise UserError(f"{path}: no column {column!r} (it has: {have}): {NAME_COLUMN}")
    kind = schema.field(column).type
    text = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not any(of_kind(text) for of_kind in TEXTS):
        raise UserError(f"{path}: column {column!r} is of type {kind}, not string: {NAME_COLUMN}")
    leaves = [file.schema.column(place).path for place in range(len(file.schema))]
    for group in range(file.num_row_groups):
        chunk = file.metadata.row_group(group).column(leaves.index(column))
        packed, unfolded = chunk.total_compressed_size, chunk.total_uncompressed_size
        if unfolded > max(UNFOLDED, TIMES * packed):
            raise UserError(
                f"{path}: column {column!r} of row group {group} has {packed:,} bytes that unfold to {unfolded:,}, "
                "as no text does: leave the file out"
            )


def _first_bad(texts: pa.LargeStringArray) -> int:
    for row, value in enumerate(texts.cast(pa.large_binary())):
        try:
            (value.as_py() or b"").decode()
        except UnicodeDecodeError:
            return row
    raise AssertionError("Arrow and Python differ about what UTF-8 is")
