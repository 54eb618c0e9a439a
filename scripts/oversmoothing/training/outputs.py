"""Outputs of a training's rule, written from the folder of the finished training."""

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from oversmoothing.models.weights import load_metadata, load_tensors, save_tensors
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.identity import identity, texts
from oversmoothing.store.seal import BLANK, KEY, seal
from oversmoothing.training.folder import Folder

HISTORY = pa.schema(
    [
        ("step", pa.int32()),
        ("bytes", pa.int64()),  # seen in training so far
        ("learning_rate", pa.float64()),
        ("train_loss", pa.float64()),  # nats per byte, mean since the previous row; null at step 0
        ("validation_loss", pa.float64()),  # nats per byte
    ]
)


def write_outputs(
    folder: Folder, kept: Iterable[int], weights: str | Path, history: str | Path, snapshots: str | Path
) -> None:
    """Write weights, history and the snapshots `kept` up to its end from the folder of a finished training.

    The folder stays as it is, so that this can be repeated, and snapshots on its file system are hard links.
    """
    metadata = load_metadata(folder.resume)
    progress, made_by = json.loads(metadata["progress"]), json.loads(metadata["made_by"])
    shutil.rmtree(snapshots, ignore_errors=True)
    Path(snapshots).mkdir(parents=True)
    for source in (folder.snapshot(step) for step in sorted(kept) if step <= progress["step"]):
        load_metadata(source)
        with atomic_path(Path(snapshots, source.name)) as temporary:
            try:
                os.link(source, temporary)
            except OSError:  # no hard links there, or another file system
                shutil.copyfile(source, temporary)
    with atomic_path(history) as temporary:
        schema = HISTORY.with_metadata({**made_by, **identity(history)})
        table = pa.Table.from_pylist(progress["history"], schema=schema)
        with pq.ParquetWriter(temporary, table.schema) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({**texts(), KEY: BLANK})
        seal(temporary)
    best, of_best = load_tensors(folder.best)
    save_tensors(weights, best, {**of_best, **made_by})
