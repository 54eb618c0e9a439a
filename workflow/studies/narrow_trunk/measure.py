"""What a model shows as it is, and what its trunk shows with a new full head, each part learning on for some steps."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.data.reader import read_split
from oversmoothing.data.windows import read_windows
from oversmoothing.jobs import Job, run
from oversmoothing.models.device import setup
from oversmoothing.models.inference import run_windows
from oversmoothing.models.logit_files import beside_truths
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_model
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.scores.metrics import score
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.narrow_trunk.grafts import graft, learn_on, let_learn
from studies.narrow_trunk.parts import ALL, LOSS, SCRATCH

logger = logging.getLogger(__name__)

LEARNED_ON = pa.schema(
    [
        ("part", pa.string()),  # what learned on; null of the model as it was trained
        ("step", pa.int32()),  # steps for which it did
        ("window", pa.int32()),
        ("truth", pa.string()),  # null of the loss
        ("measure", pa.string()),
        ("value", pa.float64()),  # mean over the positions of the window
        ("n", pa.int32()),  # how many they are
    ]
)


def main(job: Job) -> None:
    """Read a model, the corpus and the truths' logits; write a row per part, step, window, truth and measure."""
    settings = job.params.settings
    device, precision = setup(job.params.device, settings["training"])
    training = read_split(job.input.training, job.input.manifest, "train")
    windows = read_windows(job.input.windows).slice(0, settings["windows"])
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    source = load_model(job.input.weights, device)

    def shown(model: GPT, part: str | None, step: int) -> Iterator[dict[str, Any]]:
        found = list(measure(model, windows, truths, settings, precision))
        losses, n = zip(*((row["value"], row["n"]) for row in found if row["measure"] == LOSS), strict=True)
        logger.info("%s, %d steps: loss %.4f", part or "as trained", step, np.average(losses, weights=n))
        return ({"part": part, "step": step, **row} for row in found)

    rows = [*shown(source, None, 0)]
    for part in tqdm(settings["parts"], desc=job.wildcards.model, unit="part", disable=None):
        model = graft(source, settings["seed"], settings["training"]["initial"])
        if part == SCRATCH:
            model = GPT(model.config, settings["seed"], settings["training"]["initial"]).to(device)
        let_learn(model, ALL if part == SCRATCH else part)
        for step in learn_on(model, training, settings["training"], settings["seed"], precision):
            rows += shown(model, part, step)
    made_by = provenance(settings, model=job.wildcards.model, precision=precision, device=device.type)
    write_table(job.output[0], pa.Table.from_pylist(rows, schema=LEARNED_ON), made_by)


def measure(
    model: GPT, windows: pa.Table, truths: Mapping[str, str | Path], settings: Mapping[str, Any], precision: str
) -> Iterator[dict[str, Any]]:
    """Yield the loss (nats) of each window, and its metrics against each truth, as rows without ``part`` and ``step``.

    `truths` are files of logits over windows that begin with these.
    """
    states = run_windows(model, windows, settings["batch"], precision)
    for state, beside in beside_truths(states, truths):
        n = len(state.target)
        exact = softmax(state.logits.astype(np.float64))
        known = {"window": state.window, "n": n}
        yield {**known, "measure": LOSS, "value": float(-np.log(exact[np.arange(n), state.target]).mean())}
        for name, logits in beside.items():
            scores = score(softmax(state.logits), softmax(logits), [lambda p: p], AGAINST_TRUTHS, settings["tau"])[0]
            for metric, values in zip(AGAINST_TRUTHS, scores, strict=True):
                yield {**known, "truth": name, "measure": metric, "value": float(values.mean(dtype=np.float64))}


if __name__ == "__main__":
    run(main)
