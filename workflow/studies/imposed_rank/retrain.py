"""Train a head of lower rank on the hidden states of the full model, which is frozen."""

import logging

import pyarrow as pa

from oversmoothing.data.reader import read_split
from oversmoothing.jobs import Job, run
from oversmoothing.models.device import setup
from oversmoothing.models.weights import load_model, save_tensors
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.imposed_rank.heads import HISTORY, retrain

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read the full model and the corpus; write the head and its loss history."""
    settings = job.params.settings
    device, precision = setup(job.params.device, settings)
    training = read_split(job.input.training, job.input.manifest, "train")
    validation = read_split(job.input.validation, job.input.manifest, "validation")
    model = load_model(job.input.weights, device)
    logger.info("rank %d, norm %s, on %s in %s", settings["rank"], settings["norm"], device, precision)
    head, history = retrain(model, training, validation, settings, precision)
    made_by = provenance(settings, model=job.wildcards.model, precision=precision, device=device.type)
    save_tensors(job.output.weights, head, made_by)
    write_table(job.output.history, pa.Table.from_pylist(history, schema=HISTORY), made_by)


if __name__ == "__main__":
    run(main)
