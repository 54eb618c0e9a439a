"""Train one model of the family or one truth, from its last checkpoint if there is one."""

import json
import logging
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from oversmoothing.corpus.reader import read_split, verify
from oversmoothing.device import choose_device, choose_precision, make_deterministic
from oversmoothing.jobs import run
from oversmoothing.model import GPT, GPTConfig
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.provenance import digest, provenance
from oversmoothing.training.checkpoint import Checkpoints
from oversmoothing.training.loop import HISTORY, train
from oversmoothing.weights import load_tensors, save_model

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

logger = logging.getLogger(__name__)


def main(job: "Snakemake") -> None:
    """Read the corpus, train, and write weights, loss history and snapshots; then drop the checkpoints."""
    settings = job.params.settings
    training, seed = settings["training"], settings["seed"]
    device = choose_device(job.params.device)
    precision = choose_precision(training["precision"], device)
    make_deterministic(device, training["threads"])
    data = {name: read_split(job.input[name]) for name in ("training", "validation")}
    corpus = json.loads(Path(job.input.manifest).read_text(encoding="utf-8"))
    verify(job.input.training, corpus["splits"]["train"])
    verify(job.input.validation, corpus["splits"]["validation"])

    model = GPT(GPTConfig.from_dict(settings["model"]), seed).to(device)
    logger.info("%s on %s in %s, %d threads", model.config, device, precision, training["threads"])
    sha256 = {split: corpus["splits"][split]["sha256"] for split in ("train", "validation")}
    made_by = provenance(
        settings, model=job.wildcards.model, precision=precision, device=device.type, corpus=digest(sha256)
    )
    key = digest({"settings": settings, "code": job.params.code, "corpus": sha256})
    checkpoints = Checkpoints(job.params.checkpoints["folder"], key, job.params.checkpoints["interval"])
    with checkpoints.lock():
        progress = train(model, data["training"], data["validation"], training, seed, precision, checkpoints)
        best, _ = load_tensors(checkpoints.best)
        save_model(job.output.weights, model.config, best, {**made_by, "step": str(progress.best_step)})
        with atomic_path(job.output.history) as temporary:
            history = pa.Table.from_pylist(progress.history, schema=HISTORY.with_metadata(made_by))
            pq.write_table(history, temporary)
        checkpoints.snapshots.mkdir(exist_ok=True)
        shutil.copytree(checkpoints.snapshots, job.output.snapshots, dirs_exist_ok=True)
        checkpoints.finish()


if __name__ == "__main__":
    run(main, snakemake)
