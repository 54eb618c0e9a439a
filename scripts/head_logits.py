"""Logits of a head that is truncated or was trained alone: one product with the stored hidden states of its model."""

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import Job, run
from oversmoothing.models.factored_head import read_factored
from oversmoothing.models.logit_files import head_file, save_head, state_array, states_schema
from oversmoothing.models.logits import logits_schema
from oversmoothing.models.spectra import ALONE, read_bias, read_head, truncate
from oversmoothing.store.parquet import open_writer, read_groups, vector_array, vectors
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read hidden states and a head (truncated to `params.rank`, or in factors); write the logits.

    With `params.states`, a precision, the file of logits holds what enters the head, and the head lies beside it.
    """
    rank, weights = job.params.rank, job.input.weights
    head, before = read_factored(weights) if rank is None else (_truncated(weights, rank), None)
    bias = read_bias(weights)
    states = job.params.states
    schema = states_schema(head.shape[1], states) if states else logits_schema(len(head))
    made_by = provenance({"rank": rank}, model=job.wildcards.model)
    of_head: dict[str, str] = {}
    if states:
        of_head = save_head(head_file(job.output.logits), head, bias, {**made_by, "head": ALONE})
    with open_writer(job.output.logits, schema, made_by | of_head) as writer:
        for group in read_groups(job.input.hidden, ["window", "position", "target", "post"]):
            post = vectors(group["post"])
            entering = before(post) if before else post
            stored = state_array(entering, states) if states else vector_array(entering @ head.T)
            keys = [group[name] for name in ("window", "position", "target")]
            writer.write_batch(pa.record_batch([*keys, stored], schema=schema))


def _truncated(weights: str, rank: int) -> np.ndarray:
    return truncate(read_head(weights), rank).astype(np.float32)


if __name__ == "__main__":
    run(main)
