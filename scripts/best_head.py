"""What the best head of a model's rank forces of the truths, beside the model's own head."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.forced.best_head_scores import BEST_HEAD_SCORES, beside_best
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.logit_files import logit_groups
from oversmoothing.probabilities import softmax
from oversmoothing.spaced import positions_of
from oversmoothing.spectra import read_bias, read_head
from oversmoothing.store.parquet import open_writer, read_table
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read a model's head, what it forces and the logits of the truths; write a row per position and truth."""
    settings, model = job.params.settings, job.wildcards.model
    weights, bias = read_head(job.input.weights), read_bias(job.input.weights)
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
            free, best, gap = beside_best(weights, bias, p, fitted)
            found = rows.assign(fitted=fitted, free=free, best=best, gap=gap)[BEST_HEAD_SCORES.names]
            writer.write_table(pa.Table.from_pandas(found, BEST_HEAD_SCORES, preserve_index=False))


def chosen(scored: pd.DataFrame, logits: "str | Path", per_window: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Evenly spaced rows of each window of what is scored, and the truth's distributions (n, v) there."""
    rows, p = [], []
    windows = dict(list(scored.groupby("window")))
    for keys, values in logit_groups(logits, ["window", "position"]):
        own = windows[keys["window"][0].as_py()]
        own = own.iloc[positions_of(len(own), per_window)]
        at = np.searchsorted(keys["position"].to_numpy(), own.position.to_numpy())
        rows.append(own)
        p.append(softmax(values[at].astype(np.float64)))
    return pd.concat(rows, ignore_index=True), np.concatenate(p)


if __name__ == "__main__":
    run(main)
