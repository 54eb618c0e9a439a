"""Random subset of positions over all windows, the same in every file of a model."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from oversmoothing.models.logit_files import POSITION, logits_column
from oversmoothing.store.parquet import open_reader, vectors


def draw_rows(path: str | Path, count: int, seed: int) -> np.ndarray:
    """Draw `count` rows of a file without replacement, or all if there are fewer, by its length and the seed."""
    with open_reader(path) as reader:
        total = reader.metadata.num_rows
    return np.sort(np.random.default_rng(seed).choice(total, min(count, total), replace=False))


def read_rows(path: str | Path, columns: Sequence[str], rows: np.ndarray) -> dict[str, np.ndarray]:
    """Read sorted rows (n,) of a file: ``window``, ``position``, ``target`` (n,) and vector columns, float32 (n, d).

    Columns are such as ``post``, or ``logits``, which may have to be rebuilt. Only row groups that are needed are read.
    """
    sources = {name: logits_column(path) if name == "logits" else (name, vectors) for name in columns}
    names = [*POSITION, *(stored for stored, _ in sources.values())]
    parts = []
    with open_reader(path, names) as reader:
        starts = np.cumsum([0, *(reader.metadata.row_group(i).num_rows for i in range(reader.num_row_groups))])
        groups = np.searchsorted(starts, rows, side="right") - 1
        for group in np.unique(groups):
            table = reader.read_row_group(int(group), columns=names)
            parts.append(table.take(rows[groups == group] - starts[group]).combine_chunks().to_batches()[0])
    read = {key: np.concatenate([part[key].to_numpy() for part in parts]) for key in POSITION}
    for name, (stored, values_of) in sources.items():
        read[name] = values_of(pa.concat_arrays([part[stored] for part in parts]))
    return read
