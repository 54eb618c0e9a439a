"""Occurrences, argmaxes and NSMD of one model, summed by window and byte."""

from itertools import islice

import pyarrow as pa

from oversmoothing.bytes.sums import SUMS, sums_by_byte
from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance

GROUP = 256  # windows per row group


def main(job: Job) -> None:
    """Read the logits of a model and, if it has any, its NSMD scores; write the sums."""
    windows = sums_by_byte(job.input.logits, job.input.get("nsmd"))
    with open_writer(job.output[0], SUMS, provenance({}, model=job.wildcards.model)) as writer:
        while batches := list(islice(windows, GROUP)):
            table = pa.Table.from_batches(batches).unify_dictionaries()
            writer.write_table(table, row_group_size=len(table))


if __name__ == "__main__":
    run(main)
