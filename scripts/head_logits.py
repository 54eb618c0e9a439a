"""Logits of a truncated or retrained head: one matrix product with the stored hidden states of its model."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from oversmoothing.imposed_rank.applied import read_retrained
from oversmoothing.jobs import run
from oversmoothing.logits import logits_schema
from oversmoothing.spectra import read_head, truncate
from oversmoothing.store.parquet import open_writer, read_groups, vector_array, vectors
from oversmoothing.store.provenance import provenance

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake


def main(job: "Snakemake") -> None:
    """Read hidden states and a head (truncated to `params.rank`, or retrained); write the logits."""
    rank, weights = job.params.rank, job.input.weights
    head, before = read_retrained(weights) if rank is None else (_truncated(weights, rank), None)
    schema = logits_schema(len(head))
    made_by = provenance({"rank": rank}, model=job.wildcards.model, source=weights)
    with open_writer(job.output[0], schema, made_by) as writer:
        for group in read_groups(job.input.hidden, ["window", "position", "target", "post"]):
            post = vectors(group["post"])
            logits = vector_array((before(post) if before else post) @ head.T)
            keys = [group[name] for name in ("window", "position", "target")]
            writer.write_batch(pa.record_batch([*keys, logits], schema=schema))


def _truncated(weights: str, rank: int) -> np.ndarray:
    return truncate(read_head(weights), rank).astype(np.float32)


if __name__ == "__main__":
    run(main)
