"""Logits of a head that is truncated or was trained alone: one product with the stored hidden states of its model."""

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import Job, run
from oversmoothing.models.factored_head import read_factored
from oversmoothing.models.logit_files import POSITION, head_file, save_head, state_array, states_schema
from oversmoothing.models.logits import logits_schema
from oversmoothing.models.spectra import ALONE, CAP, READS, read_bias, read_facts, read_head, truncate
from oversmoothing.numerics.softcap import softcapped
from oversmoothing.store.parquet import open_writer, read_groups, vector_array, vectors
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read hidden states and a head (truncated to `params.rank`, whole or in factors); write the logits.

    With `params.states`, a precision, the file of logits holds what enters the head, and the head lies beside it.
    """
    rank, weights = job.params.rank, job.input.weights
    factored = read_factored(weights)
    head, before = factored or (read_head(weights, capped=True), None)
    if factored is None and rank is not None:
        head = truncate(head, rank).astype(np.float32)
    bias, facts, states = read_bias(weights), read_facts(weights), job.params.states
    cap, column = float(facts[CAP]) if CAP in facts else None, facts.get(READS, "post")
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


if __name__ == "__main__":
    run(main)
