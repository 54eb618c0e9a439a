"""What the head of one model forces of its distance from each truth, streamed window by window."""

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.forced.model_heads import read_model_head
from oversmoothing.forced.scores import FORCED_SCORES, ForcedScores, score_forced
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.probabilities import softmax
from oversmoothing.spaced import positions_of
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance
from oversmoothing.window_logits import read_logits


def main(job: Job) -> None:
    """Read a model's head and the logits of the model and of the truths; write a row per position and truth."""
    settings, model = job.params.settings, job.wildcards.model
    own = read_model_head(job.input.weights, settings["kind"], settings["rank"])
    head = own.prepared()
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    with open_writer(job.output[0], FORCED_SCORES, provenance(settings, model=model)) as writer:
        for window in tqdm(read_logits(job.input.model, truths), desc=model, unit="window", disable=None):
            at = positions_of(len(window.model), settings["per_window"])
            for truth, logits in window.truths.items():
                p = softmax(logits[at].astype(np.float64))
                try:
                    found = score_forced(own, head, window.model[at], p, settings["tau"], settings["norm_per_window"])
                except ValueError as error:
                    raise UserError(f"{job.input.model}: {error}") from error
                writer.write_batch(rows(window.window, at, truth, found))


def rows(window: int, at: np.ndarray, truth: str, found: ForcedScores) -> pa.RecordBatch:
    """Rows of the file for one window and truth."""
    names = pa.array([truth] * len(at), pa.string()).dictionary_encode()
    columns = [
        pa.array(np.full(len(at), window)),
        pa.array(at),
        names,
        *(pa.array(values, from_pandas=True) for values in vars(found).values()),
    ]
    return pa.record_batch(
        [column.cast(field.type) for column, field in zip(columns, FORCED_SCORES, strict=True)], schema=FORCED_SCORES
    )


if __name__ == "__main__":
    run(main)
