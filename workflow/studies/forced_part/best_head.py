"""What the best head of a model's rank forces of the truths, beside the model's own head.

Heads are fitted to every other window, from the first; what is reported of them is measured on the other windows.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.jobs import Job, UserError, run
from oversmoothing.measures.best_head import beside_best
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.logit_files import logit_groups
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.files import NAME
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import open_writer, read_table
from oversmoothing.store.provenance import provenance

NATS = ("kl", "forced", "free", "best", "gap")
BEST_HEAD_SCORES = pa.schema(  # README.md says what each column is
    [
        *[("window", pa.int32()), ("position", pa.int32()), ("truth", NAME), ("fitted", pa.bool_())],
        *((name, pa.float64()) for name in NATS),
    ]
)


def main(job: Job) -> None:
    """Read a model's head, what it forces and the logits of the truths; write a row per position and truth."""
    settings, model = job.params.settings, job.wildcards.model
    head = read_model_head(job.input.weights)
    scored = read_table(job.input.forced, ["window", "position", "truth", "kl", "forced"]).to_pandas()
    with open_writer(job.output[0], BEST_HEAD_SCORES, provenance(settings, model=model)) as writer:
        for truth, path in tqdm(list(zip(settings["truths"], job.input.truths, strict=True)), desc=model, disable=None):
            rows, p = chosen(scored[scored.truth == truth], path, settings["per_window"])
            order = rows.window.rank(method="dense").astype(int)
            fitted = (order % 2 == 1).to_numpy()
            if fitted.all():
                raise UserError(
                    "windows.count: at least 2 are needed to fit heads to one half of them; or set "
                    "metrics.forced.best_head_per_window: null"
                )
            table = rows.assign(fitted=fitted, **beside_best(head, p, fitted))[BEST_HEAD_SCORES.names]
            writer.write_table(pa.Table.from_pandas(table, BEST_HEAD_SCORES, preserve_index=False))


def chosen(scored: pd.DataFrame, logits: str | Path, per_window: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return evenly spaced rows of each window of what is scored, and the truth's distributions (n, v) there."""
    rows, p = [], []
    windows = dict(list(scored.groupby("window")))
    for keys, values in logit_groups(logits, ["window", "position"]):
        window = windows[keys["window"][0].as_py()]
        spaced = window.iloc[positions_of(len(window), per_window)]
        at = np.searchsorted(keys["position"].to_numpy(), spaced.position.to_numpy())
        rows.append(spaced)
        p.append(softmax(values[at].astype(np.float64)))
    return pd.concat(rows, ignore_index=True), np.concatenate(p)


if __name__ == "__main__":
    run(main)
