"""Whether what BAT rejects is there because of the bottleneck: beside the law and full rank of the same seed."""

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.measures.entries.tbat import rejected
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.logit_files import read_logits
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance
from studies.known_law.laws import LAW, MARKED

ROWS = pa.schema([("window", pa.int32()), ("position", pa.int32()), *((name, pa.float32()) for name in MARKED)])


def main(job: Job) -> None:
    """Read the logits of a model, of full rank and of the law; write what BAT rejects at some positions."""
    settings = job.params.settings
    use_threads(job.threads)
    head = read_model_head(job.input.weights)
    windows = read_logits(job.input.model, {"full": job.input.full, LAW: job.input.law})
    with open_writer(job.output[0], ROWS, provenance(settings)) as writer:
        for window in tqdm(windows, unit="window", disable=None):
            at = positions_of(len(window.model), settings["per_window"])
            q, full, p = (softmax(of[at]) for of in (window.model, window.truths["full"], window.truths[LAW]))
            reject = rejected(head, q, settings["delta"])
            keys = (np.full(len(at), window.window, np.int32), at.astype(np.int32))
            columns = [*map(pa.array, (*keys, *marked(q, full, p, reject)))]
            writer.write_batch(pa.record_batch(columns, schema=ROWS))


def marked(q: np.ndarray, full: np.ndarray, p: np.ndarray, reject: np.ndarray) -> np.ndarray:
    """Return what a model gives to rejected bytes, what of it exceeds law and full rank, and what does at any byte.

    Distributions are those of the model `q`, of `full` rank and of the law `p`, all (n, v), as the mask `reject`;
    returned is float32 (3, n). What exceeds both is there neither in the law nor without a bottleneck.
    """
    above = np.maximum(q - np.maximum(p, full), 0)
    return np.array([(q * reject).sum(axis=1), (above * reject).sum(axis=1), above.sum(axis=1)], np.float32)


if __name__ == "__main__":
    run(main)
