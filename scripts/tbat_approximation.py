"""The published shortcut: TBAT of the scored bytes with an SVD approximation of the head in BAT."""

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.numerics.spaced_positions import positions_of
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
    among = set(positions_of(count, settings["windows"]).tolist())
    with open_writer(job.output[0], APPROXIMATED, provenance(settings, model=model, unit="probability")) as writer:
        states = read_states(job.input.logits, None)
        for i, (window, all_p, _) in enumerate(tqdm(states, desc=model, total=count, disable=None)):
            if i not in among:
                continue
            waiting, at = [], positions_of(len(all_p), settings["per_window"])
            p = all_p[at]
            for rank, basis in bases.items():
                where = f"{model}, window {window}, approximation {rank}"
                value = tbat(basis, p, settings["delta"], settings["mass_tolerance"], where).value
                columns = [np.full(len(p), window), at, np.full(len(p), rank), value]
                waiting.append(pa.record_batch([pa.array(column) for column in columns], names=APPROXIMATED.names))
            writer.write_table(pa.Table.from_batches(waiting).cast(APPROXIMATED))


if __name__ == "__main__":
    run(main)
