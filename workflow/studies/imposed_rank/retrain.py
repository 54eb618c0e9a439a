"""Train a head on the hidden states of a frozen model."""

import logging

import pyarrow as pa

from oversmoothing.data.reader import read_split
from oversmoothing.jobs import Job, run
from oversmoothing.models.device import setup
from oversmoothing.models.spectra import ALONE, READS
from oversmoothing.models.weights import load_model, save_tensors
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.imposed_rank.heads import HISTORY, retrain
from studies.imposed_rank.optimum import optimise

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read the model and the corpus; write the head and its loss history."""
    settings = job.params.settings
    device, precision = setup(job.params.device, settings)
    training = read_split(job.input.training, job.input.manifest, "train")
    validation = read_split(job.input.validation, job.input.manifest, "validation")
    model = load_model(job.input.weights, device)
    logger.info("rank %s, norm %s, on %s in %s", settings["rank"] or "full", settings["norm"], device, precision)
    made = optimise if "sequences" in settings else retrain
    head, history = made(model, training, validation, settings, precision)
    made_by = provenance(settings, model=job.wildcards.model, precision=precision, device=device.type)
    of_file = {READS: settings["reads"]} | ({} if settings["rank"] else {"head": ALONE})
    save_tensors(job.output.weights, head, made_by | of_file)
    write_table(job.output.history, pa.Table.from_pylist(history, schema=HISTORY), made_by)


if __name__ == "__main__":
    run(main)
