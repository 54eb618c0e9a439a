"""Files of scores: their schema, and writing them in row groups of a useful size."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

NAME = pa.dictionary(pa.int16(), pa.string())
SCORES = pa.schema(
    [
        ("window", pa.int32()),
        ("position", pa.int32()),  # from 0 at the first scored byte
        ("truth", NAME),  # null where a metric needs none
        ("decoding", NAME),
        ("value", pa.float32()),  # in the metric's unit, see catalogue.metrics.METRICS
    ]
)


class ScoreRows:
    """Collects rows of one score file and writes them in row groups of a useful size."""

    GROUP = 1 << 17

    def __init__(self, writer: pq.ParquetWriter, schema: pa.Schema = SCORES) -> None:
        self._writer = writer
        self._schema = schema
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0

    def add(
        self,
        window: int,
        truth: str | None,
        decoding: str,
        values: np.ndarray,
        *more: np.ndarray,
        positions: np.ndarray | None = None,
    ) -> None:
        """Add the values at all positions of a window, or at some, and those of any further columns of the schema."""
        rows = len(values)
        columns = [
            pa.array(np.full(rows, window, np.int32)),
            pa.array(np.arange(rows, dtype=np.int32) if positions is None else positions.astype(np.int32)),
            pa.array([truth] * rows, pa.string()).dictionary_encode().cast(NAME),
            pa.array([decoding] * rows, pa.string()).dictionary_encode().cast(NAME),
            pa.array(values.astype(np.float32)),
            *map(pa.array, more),
        ]
        self._waiting.append(pa.record_batch(columns, schema=self._schema))
        self._rows += rows
        if self._rows >= self.GROUP:
            self.flush()

    def flush(self) -> None:
        """Write the pending rows as one row group."""
        if self._waiting:
            table = pa.Table.from_batches(self._waiting).unify_dictionaries()
            self._writer.write_table(table, row_group_size=self.GROUP * 2)
        self._waiting, self._rows = [], 0
