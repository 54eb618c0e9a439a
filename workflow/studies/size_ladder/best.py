"""What the best head of a rank forces of a truth: fitted to one half of the windows, measured on the other."""

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import Job, UserError, run
from oversmoothing.measures.best_head import fits, forced_by
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.logit_files import logit_groups
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.size_ladder.parts import reported

BEST = pa.schema([("window", pa.int32()), ("value", pa.float64()), ("n", pa.int32())])  # mean of n positions, nats


def main(job: Job) -> None:
    """Read a truth's logits and a trained head; write what the better of two fitted heads forces, by window."""
    settings = job.params.settings
    numbers, truths = [], []
    for keys, logits in logit_groups(job.input.truth, ["window"]):
        numbers.append(keys["window"][0].as_py())
        truths.append(softmax(logits[positions_of(len(logits), settings["per_window"])].astype(np.float64)))
    if len(truths) < 2:
        raise UserError("windows.count: at least 2 are needed to fit heads to one half of them")
    fitted = np.concatenate([p for i, p in enumerate(truths) if not reported(i)])
    best = fits(fitted, settings["rank"], (read_model_head(job.input.start).weights, None))[0]
    rows = [
        {"window": number, "value": float(forced_by(best.weights, p).forced.mean()), "n": len(p)}
        for i, (number, p) in enumerate(zip(numbers, truths, strict=True))
        if reported(i)
    ]
    made_by = provenance(settings, model=job.wildcards.model, fitted=f"{best.forced.mean():.6g}")
    write_table(job.output[0], pa.Table.from_pylist(rows, schema=BEST), made_by)


if __name__ == "__main__":
    run(main)
