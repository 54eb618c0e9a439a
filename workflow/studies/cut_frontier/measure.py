"""Measure cuts of a model's distributions against each truth, at several temperatures and in both orders."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.bat.basis import Basis
from oversmoothing.jobs import Job, run
from oversmoothing.measures.cuts import MEASURES, Plane, measured
from oversmoothing.measures.entries.tbat import full
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.logit_files import WindowLogits, read_logits
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.files import NAME
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance

ELEMENTS = 2**20  # logits of a model that are measured at once, or those of a window if it has more
SUMS = pa.schema(  # over the positions of a window
    [
        *[("window", pa.int32()), ("truth", NAME), ("temperature", pa.float64()), ("order", NAME)],
        *[("method", NAME), ("parameter", pa.float64()), ("n", pa.int32())],
        *((name, pa.float64()) for name in MEASURES),
    ]
)


def main(job: Job) -> None:
    """Read a model's logits and head and the truths' logits; write sums over each window."""
    settings, model = job.params.settings, job.wildcards.model
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    basis = read_model_head(job.input.weights).once(full) if settings["deltas"] else None
    use_threads(job.threads)
    windows = tqdm(read_logits(job.input.model, truths), desc=model, unit="window", disable=None)
    with open_writer(job.output[0], SUMS, provenance(settings, model=model)) as writer:
        for batch in batches(windows, settings["per_window"]):
            writer.write_table(sums(batch, basis, settings))


def batches(windows: Iterable[WindowLogits], per_window: int | None) -> Iterator[list[WindowLogits]]:
    """Yield windows together, with so many positions of each, as far as they have no more than `ELEMENTS` logits."""
    held: list[WindowLogits] = []
    for window in windows:
        at = positions_of(len(window.model), per_window)
        truths = {name: logits[at] for name, logits in window.truths.items()}
        own = WindowLogits(window.window, window.model[at], truths)
        if held and sum(one.model.size for one in held) + own.model.size > ELEMENTS:
            yield held
            held = []
        held.append(own)
    if held:
        yield held


def sums(batch: Sequence[WindowLogits], basis: Basis | None, settings: Mapping[str, Any]) -> pa.Table:
    """Return the sums over each window of a batch, window by window in the order of its cuts."""
    together = {name: np.concatenate([one.truths[name] for one in batch]) for name in batch[0].truths}
    planes = {name: Plane(logits, settings["tau"]) for name, logits in together.items()}
    q, counts = softmax(np.concatenate([one.model for one in batch])), [len(one.model) for one in batch]
    starts = np.cumsum([0, *counts[:-1]])
    rows, totals = [], []
    for truth, row, measures in measured(planes, q, basis, settings):
        rows.append({"truth": truth, **row})
        totals.append(np.stack([np.add.reduceat(measures[name], starts, dtype=np.float64) for name in MEASURES]))
    by_window = np.stack(totals).transpose(1, 2, 0).reshape(len(MEASURES), -1)
    facts = {name: [row[name] for row in rows] * len(batch) for name in rows[0]}
    of_window = {"window": np.repeat([one.window for one in batch], len(rows)), "n": np.repeat(counts, len(rows))}
    return pa.table({**of_window, **facts, **dict(zip(MEASURES, by_window, strict=True))}).select(SUMS.names).cast(SUMS)


if __name__ == "__main__":
    run(main)
