"""The published shortcut: TBAT of every scored byte with an SVD approximation of the head in BAT."""

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.scores.tbat import APPROXIMATED, approximate_bases, read_states, tbat
from oversmoothing.store.parquet import open_reader, open_writer
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read a model's head and logits; write TBAT for each rank of approximation."""
    settings, model = job.params.settings, job.wildcards.model
    bases = approximate_bases(job.input.weights, settings["approximations"])
    use_threads(job.threads)
    with open_reader(job.input.logits) as reader:
        count = reader.num_row_groups
    with open_writer(job.output[0], APPROXIMATED, provenance(settings, model=model)) as writer:
        for window, p, _ in tqdm(read_states(job.input.logits, None), desc=model, total=count, disable=None):
            waiting = []
            for rank, basis in bases.items():
                where = f"{model}, window {window}, approximation {rank}"
                value = tbat(basis, p, settings["delta"], settings["mass_tolerance"], where).value
                columns = [np.full(len(p), window), np.arange(len(p)), np.full(len(p), rank), value]
                waiting.append(pa.record_batch([pa.array(column) for column in columns], names=APPROXIMATED.names))
            writer.write_table(pa.Table.from_batches(waiting).cast(APPROXIMATED))


if __name__ == "__main__":
    run(main)
