"""Read the human texts with the language model once, for MAUVE: all sets of samples are compared with them."""

import logging

import pyarrow as pa

from oversmoothing.jobs import Job, run
from oversmoothing.models.device import setup
from oversmoothing.store.parquet import vector_array, write_table
from oversmoothing.store.provenance import provenance
from studies.sample_quality.readings import load_judge, read_samples, read_with

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read the windows; write the features of their texts."""
    settings = job.params.settings
    device, precision = setup(job.params.device, settings)
    human = read_samples(job.input.windows, "scored")
    readings = read_with(load_judge(job, device), human, settings["batch"], settings["completed"], precision)
    table = pa.table({"window": pa.array(human.windows), "features": vector_array(readings.features)})
    write_table(job.output[0], table, provenance(settings))
    logger.info("read %d texts", len(table))


if __name__ == "__main__":
    run(main)
