"""Random subset of positions over all windows, the same in every file of a model."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import UserError
from oversmoothing.models.logit_files import POSITION, logits_column
from oversmoothing.store.parquet import open_reader, vectors


def draw_rows(path: str | Path, count: int, seed: int) -> np.ndarray:
    """Draw `count` rows of a file without replacement, or all if there are fewer; sorted int64.

    The rows depend only on the file's length, `count` and the seed.
    """
    with open_reader(path) as reader:
        total = reader.metadata.num_rows
    if not total:
        raise UserError(f"{path}: no rows; delete it and run again")
    return np.sort(np.random.default_rng(seed).choice(total, min(count, total), replace=False))


def read_rows(path: str | Path, columns: Sequence[str], rows: np.ndarray) -> dict[str, np.ndarray]:
    """Read the keys and some vector columns at the given rows, from only the row groups that contain them.

    Parameters
    ----------
    path : path
    columns : sequence of str
        Such as ``logits``, which may have to be rebuilt, or ``post``.
    rows : int array, shape (n,), sorted

    Returns
    -------
    dict of str to array
        ``window``, ``position`` and ``target``, shape (n,), and for each column float32 (n, d).
    """
    held = {name: logits_column(path) if name == "logits" else (name, vectors) for name in columns}
    names = [*POSITION, *(own for own, _ in held.values())]
    parts = []
    with open_reader(path, names) as reader:
        starts = np.cumsum([0, *(reader.metadata.row_group(i).num_rows for i in range(reader.num_row_groups))])
        if rows[-1] >= starts[-1]:
            raise UserError(
                f"{path}: {starts[-1]} positions, where row {rows[-1]} was asked for; delete it and run again"
            )
        groups = np.searchsorted(starts, rows, side="right") - 1
        for group in np.unique(groups):
            table = reader.read_row_group(int(group), columns=names)
            parts.append(table.take(rows[groups == group] - starts[group]).combine_chunks().to_batches()[0])
    read = {key: np.concatenate([part[key].to_numpy() for part in parts]) for key in POSITION}
    return read | {
        name: values_of(pa.concat_arrays([part[own] for part in parts])) for name, (own, values_of) in held.items()
    }
