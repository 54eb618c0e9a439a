"""From the folder of a finished training to the files that its rule declares."""

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.seal import BLANK, KEY, seal
from oversmoothing.training.folder import Folder
from oversmoothing.weights import load_metadata, load_tensors, save_tensors

HISTORY = pa.schema(
    [
        ("step", pa.int32()),
        ("bytes", pa.int64()),  # seen in training so far
        ("learning_rate", pa.float64()),
        ("train_loss", pa.float64()),  # nats per byte, mean since the row before; null at step 0
        ("validation_loss", pa.float64()),  # nats per byte
    ]
)


def write_outputs(
    folder: Folder, kept: Iterable[int], weights: str | Path, history: str | Path, snapshots: str | Path
) -> None:
    """Write weights, loss history and snapshots; the folder stays as it is, so that this can be done again.

    Parameters
    ----------
    folder : Folder
        Of a finished training.
    kept : iterable of int
        Steps at which it kept snapshots, if it came so far.
    weights, history, snapshots : path
        The snapshots take no more room where they are on one file system with the folder: their files are links.

    Raises
    ------
    UserError
        If a file is missing or damaged, or the disk is full.
    """
    metadata = load_metadata(folder.resume)
    progress, made_by = json.loads(metadata["progress"]), json.loads(metadata["made_by"])
    shutil.rmtree(snapshots, ignore_errors=True)
    Path(snapshots).mkdir(parents=True)
    for source in (folder.snapshot(step) for step in sorted(kept) if step <= progress["step"]):
        load_metadata(source)
        with atomic_path(Path(snapshots, source.name)) as temporary:
            _link(source, temporary)
    with atomic_path(history) as temporary:
        schema = HISTORY.with_metadata({**made_by, KEY: BLANK})
        pq.write_table(pa.Table.from_pylist(progress["history"], schema=schema), temporary)
        seal(temporary)
    best, of_best = load_tensors(folder.best)
    save_tensors(weights, best, {**of_best, **made_by, "training": metadata["key"]})


def _link(source: Path, target: Path) -> None:
    """Give a file a second name, or a copy where a file system has no such names or another one is meant."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
