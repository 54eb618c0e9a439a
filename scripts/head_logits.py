"""Logits of a head that is truncated or was trained alone: one product with the stored hidden states of its model."""

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import Job, run
from oversmoothing.models.factored_head import is_factored, read_factored
from oversmoothing.models.logit_files import POSITION, head_file, save_head, state_array, states_schema
from oversmoothing.models.logits import logits_schema
from oversmoothing.models.spectra import ALONE, input_of_head, read_bias, read_cap, read_head, truncate
from oversmoothing.numerics.softcap import softcapped
from oversmoothing.store.parquet import open_writer, read_groups, vector_array, vectors
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read hidden states and a head (truncated to `params.rank`, whole or in factors); write the logits.

    With `params.states`, a precision, the file of logits holds what enters the head, and the head lies beside it.
    """
    rank, weights = job.params.rank, job.input.weights
    head, before = read_factored(weights) if is_factored(weights) else (_truncated(weights, rank), None)
    bias, cap = read_bias(weights), read_cap(weights)
    states, column = job.params.states, input_of_head(weights)
    schema = states_schema(head.shape[1], states) if states else logits_schema(len(head))
    made_by = provenance({"rank": rank}, model=job.wildcards.model)
    of_head: dict[str, str] = {}
    if states:
        of_head = save_head(head_file(job.output.logits), head, bias, {**made_by, "head": ALONE}, cap)
    with open_writer(job.output.logits, schema, made_by | of_head) as writer:
        for group in read_groups(job.input.hidden, [*POSITION, column]):
            entering = vectors(group[column])
            entering = before(entering) if before else entering
            stored = state_array(entering, states) if states else vector_array(softcapped(entering @ head.T, cap))
            writer.write_batch(pa.record_batch([*(group[name] for name in POSITION), stored], schema=schema))


def _truncated(weights: str, rank: int | None) -> np.ndarray:
    head = read_head(weights, capped=True)
    return head if rank is None else truncate(head, rank).astype(np.float32)


if __name__ == "__main__":
    run(main)
