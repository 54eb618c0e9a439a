"""A complete training, from corpus files to weights, as run by one process or by each of several."""

import json
import logging
import os
import shutil
import sys
import traceback
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from oversmoothing.data.reader import read_manifest, read_split
from oversmoothing.jobs import asked, explain
from oversmoothing.models.device import allow_tf32, choose_compile, setup
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_metadata, load_tensors, save_tensors
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.identity import identity, name_of, texts
from oversmoothing.store.provenance import digest, provenance
from oversmoothing.store.seal import BLANK, KEY, seal
from oversmoothing.training.batches import Whole
from oversmoothing.training.checkpoint import Checkpoints
from oversmoothing.training.folder import Folder, training_key, training_packages
from oversmoothing.training.group import Group, join
from oversmoothing.training.lock import Lock
from oversmoothing.training.loop import snapshot_steps, train
from oversmoothing.training.schedule import decay_begins

logger = logging.getLogger(__name__)

HISTORY = pa.schema(
    [
        ("step", pa.int32()),
        ("bytes", pa.int64()),  # seen in training so far
        ("learning_rate", pa.float64()),
        ("train_loss", pa.float64()),  # nats per byte, mean since the previous row; null at step 0
        ("validation_loss", pa.float64()),  # nats per byte
    ]
)


@dataclass(frozen=True)
class Task:
    """Description of a training; all values are plain, so that it can be passed to other processes as JSON."""

    model: str
    settings: dict[str, Any]  # `model`, `training`, `seed`
    device: str
    code: str  # its fingerprint
    checkpoints: str  # prefix of the folders of the model's trainings (see `Folder.of`)
    interval: int  # steps between checkpoints
    training: str  # paths of the corpus, then of the outputs
    validation: str
    manifest: str
    weights: str
    history: str
    snapshots: str
    log: str | None
    start: str | None = None  # folder of the states of which its decay goes on from one
    states: str | None = None  # output of a training that others go on from
    asked: dict[str, Any] = field(default_factory=dict)  # of the job (see `store.identity`), for the other processes


def perform(task: Task, group: Group) -> None:
    """Read the corpus, train, and write all outputs; the checkpoints stay until Snakemake has recorded these."""
    settings = dict(task.settings)
    training, seed = settings["training"], settings["seed"]
    device, precision = setup(task.device, training, group.local_number)
    compiled = choose_compile(training["compile"], device)
    allow_tf32(device)
    train_split = read_split(task.training, task.manifest, "train", check=group.leads)
    validation_split = read_split(task.validation, task.manifest, "validation", check=group.leads)
    corpus = read_manifest(task.manifest)
    if "vocabulary" in corpus:  # of a text in tokens
        settings["model"] = {**settings["model"], "vocabulary": corpus["vocabulary"]}
    whole = Whole(**corpus["sequences"]) if "sequences" in corpus else None

    model = GPT(GPTConfig.from_dict(settings["model"]), seed, training["initial"]).to(device)
    on = device, precision, group.size, training["threads"]
    logger.info("%s on %s in %s, %d process(es) of %d threads", model.config, *on)
    if compiled:
        logger.info("compiled: the first step takes half a minute or more")
        model.compile(dynamic=False)  # in place: the names of weights get no prefix
    sha256 = {split: corpus["splits"][split]["sha256"] for split in ("train", "validation")}
    stated = {**settings, "model": {**settings["model"], "vocabulary": model.config.vocabulary}}  # of bytes, too
    facts = {"precision": precision, "device": device.type, "processes": str(group.size), "corpus": digest(sha256)}
    made_by = provenance(stated, model=task.model, **facts)
    key = training_key(settings, task.code, corpus, training_packages())
    checkpoints = Checkpoints(task.checkpoints, key, task.interval, made_by, name_of(task.snapshots))
    outputs = Path(task.weights).parent
    with ExitStack() as held:
        if group.leads:  # locks both: an orphan of another config has its own checkpoints, but the same outputs
            outputs.mkdir(parents=True, exist_ok=True)
            lock = Lock(outputs)
            held.enter_context(lock.held())
            held.enter_context(checkpoints.lock())
        start = Path(task.start, checkpoints.folder.state(decay_begins(training)).name) if task.start else None
        train(model, train_split, validation_split, training, seed, precision, checkpoints, group, whole, start)
        if group.leads:
            lock.verify()
            write_outputs(checkpoints.folder, snapshot_steps(training), task.weights, task.history, task.snapshots)
            if task.states:
                hand_on(map(checkpoints.folder.state, training["states"]), task.states)


def write_outputs(
    folder: Folder, kept: Iterable[int], weights: str | Path, history: str | Path, snapshots: str | Path
) -> None:
    """Write weights, history and the snapshots `kept` up to its end from the folder of a finished training.

    The folder stays as it is, so that this can be repeated, and snapshots on its file system are hard links.
    """
    metadata = load_metadata(folder.resume)
    progress, made_by = json.loads(metadata["progress"]), json.loads(metadata["made_by"])
    hand_on((folder.snapshot(step) for step in sorted(kept) if step <= progress["step"]), snapshots)
    with atomic_path(history) as temporary:
        schema = HISTORY.with_metadata({**made_by, **identity(history)})
        table = pa.Table.from_pylist(progress["history"], schema=schema)
        with pq.ParquetWriter(temporary, table.schema) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({**texts(), KEY: BLANK})
        seal(temporary)
    best, of_best = load_tensors(folder.best)
    save_tensors(weights, best, {**of_best, **made_by})


def hand_on(sources: Iterable[Path], outputs: str | Path) -> None:
    """Put weights or states of a training into a folder of outputs, in the place of what is there."""
    shutil.rmtree(outputs, ignore_errors=True)
    Path(outputs).mkdir(parents=True)
    for source in sources:
        load_metadata(source)
        with atomic_path(Path(outputs, source.name)) as temporary:
            try:
                os.link(source, temporary)
            except OSError:  # no hard links there, or another file system
                shutil.copyfile(source, temporary)


def main(path: Path, rendezvous: str) -> int:
    """Run one process's part of the task in a JSON file; an error is written beside it for the launcher."""
    task = Task(**json.loads(path.read_text(encoding="utf-8")))
    asked.update(task.asked)
    number = int(os.environ["RANK"])
    logging.basicConfig(
        level=logging.INFO if number == 0 else logging.WARNING,
        format=f"%(asctime)s %(levelname)s process {number}: %(message)s",
        filename=task.log,
    )
    try:
        with join(rendezvous) as group:
            perform(task, group)
    except Exception as error:
        report = {"message": explain(error), "traceback": traceback.format_exc()}
        path.with_name(f"error-{number}.json").write_text(json.dumps(report), encoding="utf-8")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "env://"))
