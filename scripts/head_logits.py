"""Logits of another head of a model, truncated or retrained: one matrix product from stored hidden states."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import run
from oversmoothing.logits import logits_schema
from oversmoothing.spectra import read_head, truncate
from oversmoothing.store.parquet import open_writer, read_groups, vector_array, vectors
from oversmoothing.store.provenance import provenance

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read a model's hidden states and a head; write its logits, truncated to `params.rank` where there is one."""
    rank = job.params.rank
    head = read_head(job.input.weights)
    if rank is not None:
        head = truncate(head, rank).astype(np.float32)
    schema = logits_schema(len(head))
    made_by = provenance({"rank": rank}, model=job.wildcards.model, source=job.input.weights)
    with open_writer(job.output[0], schema, made_by) as writer:
        for group in read_groups(job.input.hidden, ["window", "position", "target", "post"]):
            logits = vector_array(vectors(group["post"]) @ head.T)
            keys = [group[name] for name in ("window", "position", "target")]
            writer.write_batch(pa.record_batch([*keys, logits], schema=schema))


if __name__ == "__main__":
    run(main, snakemake)
