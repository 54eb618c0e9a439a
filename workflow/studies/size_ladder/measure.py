"""A model of the ladder: its loss, its distance from truths, parts of it, and the effective rank before its head."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from oversmoothing.data.windows import read_windows
from oversmoothing.jobs import Job, run
from oversmoothing.measures.best_head import forced_by
from oversmoothing.measures.entries.forced import forced
from oversmoothing.measures.window import Window
from oversmoothing.models.device import setup
from oversmoothing.models.heads import ModelHead, read_model_head
from oversmoothing.models.inference import run_windows
from oversmoothing.models.logit_files import beside_truths
from oversmoothing.models.weights import load_model
from oversmoothing.numerics.singular_values import effective_rank, singular_values
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.scores.metrics import score
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.size_ladder.parts import BEHIND_NORM, EFFECTIVE_RANK, FREE, LOSS, THERE, reported

logger = logging.getLogger(__name__)

MEASURED = pa.schema(
    [
        ("window", pa.int32()),  # null of what is measured over all windows
        ("truth", pa.string()),  # null of what needs none
        ("measure", pa.string()),
        ("value", pa.float64()),  # mean over the positions of the window
        ("n", pa.int32()),  # how many they are
    ]
)


def main(job: Job) -> None:
    """Read a model, windows and the truths' logits; write a row per window, truth and measure."""
    settings = job.params.settings
    device, _ = setup(job.params.device, {"precision": "float32", "threads": 1})
    model, head = load_model(job.input.weights, device), read_model_head(job.input.weights)
    windows = read_windows(job.input.windows)
    truths: dict[str, str | Path] = dict(zip(settings["truths"], job.input.truths, strict=True))
    rows: list[dict[str, Any]] = []
    entered = []
    for i, (state, beside) in enumerate(beside_truths(run_windows(model, windows, settings["batch"]), truths)):
        n = len(state.target)
        known = {"window": state.window, "n": n}
        exact = softmax(state.logits.astype(np.float64))
        rows.append({**known, "measure": LOSS, "value": float(-np.log(exact[np.arange(n), state.target]).mean())})
        entered.append(state.post)
        for name, logits in beside.items():
            rows += ({**known, "truth": name, **row} for row in distances(state.logits, logits, settings["tau"]))
            if settings["parts"] and reported(i):
                window = Window(i, len(windows), state.logits, state.target, logits, head)
                found = parts(window, head, settings["parts"])
                rows += (
                    {"window": state.window, "n": len(values), "truth": name, "measure": part, "value": values.mean()}
                    for part, values in found.items()
                )
    post = np.concatenate(entered)
    some = post[positions_of(len(post), settings["ranks"])]
    used = effective_rank(singular_values(some))
    rows.append({"measure": EFFECTIVE_RANK, "value": float(used), "n": len(some)})
    logger.info("effective rank %.2f of %d", used, post.shape[1])
    made_by = provenance(settings, model=job.wildcards.model, device=device.type)
    write_table(job.output[0], pa.Table.from_pylist(rows, schema=MEASURED), made_by)


def distances(model: np.ndarray, truth: np.ndarray, tau: float) -> Iterator[dict[str, Any]]:
    """Yield the mean of each metric between logits (n, v) of a model and of a truth, as rows."""
    scores = score(softmax(model), softmax(truth), [lambda p: p], AGAINST_TRUTHS, tau)[0]
    for metric, values in zip(AGAINST_TRUTHS, scores, strict=True):
        yield {"measure": metric, "value": float(values.mean(dtype=np.float64))}


def parts(window: Window, head: ModelHead, per_window: int) -> Mapping[str, np.ndarray]:
    """Return KL at some positions of a window, and what the head forces of it: alone, and behind its LayerNorm."""
    found = forced(window, per_window, None, None)
    p = softmax(window.truth[found["position"]].astype(np.float64))  # type: ignore[index]
    return {THERE: found["kl"], FREE: forced_by(head.weights, p).forced, BEHIND_NORM: found["forced"]}


if __name__ == "__main__":
    run(main)
