"""Whether what BAT assumes of the truth is true at some positions of one model, and its sets where half of it is."""

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.bat.basis import prepare
from oversmoothing.bat_premise.measure import PREMISE, measure
from oversmoothing.compiled import use_threads
from oversmoothing.forced.head import prepare as prepare_family
from oversmoothing.jobs import Job, run
from oversmoothing.spaced import positions_of
from oversmoothing.spectra import read_bias, read_head
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance
from oversmoothing.window_logits import read_logits


def main(job: Job) -> None:
    """Read a model's head and logits and the truths' logits; write one row per position and truth."""
    settings, model = job.params.settings, job.wildcards.model
    weights = read_head(job.input.weights)
    basis, head = prepare(weights), prepare_family(weights, read_bias(job.input.weights))
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    use_threads(job.threads)
    with open_writer(job.output[0], PREMISE, provenance(settings, model=model)) as writer:
        for window in tqdm(read_logits(job.input.model, truths), desc=model, unit="window", disable=None):
            at = positions_of(len(window.model), settings["per_window"])
            chosen = {name: logits[at] for name, logits in window.truths.items()}
            for truth, columns in measure(basis, head, window.model[at], chosen, settings).items():
                keys = {"window": np.full(len(at), window.window), "position": at, "truth": [truth] * len(at)}
                writer.write_table(pa.table(keys | columns).select(PREMISE.names).cast(PREMISE))


if __name__ == "__main__":
    run(main)
