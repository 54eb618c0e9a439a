"""What the best head of a rank forces of a truth, from two starts, and what the trained head of that rank forces.

Heads are fitted to every other window, from the first; what is reported of them is measured on the other windows. One
start is that of `forced.best_head`. The other is the trained head or, where no member has the rank, the truth's own
head cut to it. Heads within the span of the truth's own head have the first start alone.
"""

from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.linalg import svd
from scipy.special import log_softmax
from tqdm import tqdm

from oversmoothing.jobs import Job, UserError, run
from oversmoothing.measures.best_head import fits, forced_by
from oversmoothing.measures.nearest import whole
from oversmoothing.models.heads import ModelHead, read_model_head
from oversmoothing.models.logit_files import read_logits
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

HEADS = pa.schema(
    [
        ("vocabulary", pa.int32()),  # number of tokens
        ("window", pa.int32()),
        ("position", pa.int32()),
        ("fitted", pa.bool_()),  # whether the heads were fitted to this window
        ("best", pa.float64()),  # nats, forced by the head that ended lower where it was fitted
        ("other_start", pa.float64()),  # by the other one; null without one, and where they were not fitted
        ("trained", pa.float64()),  # by the trained head, whatever enters it; null without one, and where fitted
        ("kl", pa.float64()),  # from the truth to the member with that head
        ("gap", pa.float64()),  # the largest of these three
    ]
)


def main(job: Job) -> None:
    """Read a truth and a head, and the logits of its model if it is trained; write a row per position."""
    settings, model = job.params.settings, job.input.get("model")
    rank = settings["rank"]
    at, p, log_q = drawn(job.input.truth, model[0] if model else None, settings)
    head = read_model_head(job.input.weights)
    start = columns_of(head)
    if not settings["trained"] and rank >= start.shape[1]:
        raise UserError(
            f"dimensions_needed.ranks: {rank}, but the truth's own head has {start.shape[1]} columns, so that from "
            "there on nothing is forced; leave these ranks out"
        )
    span = columns_of(read_model_head(job.input.span[0])) if job.input.get("span") else None
    if span is None and not settings["trained"]:
        start = cut(start, rank)
    fitted = at["fitted"]
    with tqdm(desc=f"rank {rank}", unit="step", disable=None) as bar:
        starts = (None, start) if span is None else (None,)
        best, *others = fits(p[fitted], rank, starts, bar.update, settings["rounds"], span)
    held = forced_by(best.weights, p[~fitted])
    columns = {name: np.full(len(p), np.nan) for name in ("best", "other_start", "trained", "kl", "gap")}
    columns["best"][fitted], columns["best"][~fitted] = best.forced, held.forced
    for other in others:
        columns["other_start"][fitted] = other.forced
    columns["gap"][fitted], columns["gap"][~fitted] = best.gap, held.gap
    if log_q is not None:
        own = forced_by(head.weights, p[~fitted])
        columns["trained"][~fitted], columns["kl"][~fitted] = own.forced, whole(p[~fitted], log_q[~fitted])
        columns["gap"][~fitted] = np.maximum(held.gap, own.gap)
    found = {**at, **columns, "vocabulary": np.full(len(p), p.shape[1])}
    arrays = [pa.array(found[field.name], field.type, from_pandas=True) for field in HEADS]
    write_table(job.output[0], pa.Table.from_arrays(arrays, schema=HEADS), provenance(settings))


def drawn(
    truth: str | Path, model: str | Path | None, settings: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray | None]:
    """Return positions, the truth's distributions there (n, v), and a model's log-probabilities (n, v) if there is one.

    Of every other window, from the first, there are so many evenly spaced positions that heads are fitted to enough of
    them; of the others those that are held out.
    """
    fitted_windows = (settings["windows"] + 1) // 2
    wanted = max(settings["least"], settings["per_column"] * settings["rank"])
    per_window = (ceil(wanted / fitted_windows), settings["held_per_window"])
    rows, p, log_q = [], [], []
    for i, window in enumerate(read_logits(truth, {} if model is None else {"model": model})):
        at = positions_of(len(window.model), per_window[i % 2])
        rows.append(np.column_stack([np.full(len(at), window.window), at, np.full(len(at), i % 2 == 0)]))
        p.append(softmax(window.model[at].astype(np.float64)))
        if model is not None:
            log_q.append(log_softmax(window.truths["model"][at].astype(np.float64), axis=1))
    windows, positions, fitted = np.concatenate(rows).T
    known = {"window": windows, "position": positions, "fitted": fitted.astype(bool)}
    return known, np.concatenate(p), np.concatenate(log_q) if log_q else None


def columns_of(head: ModelHead) -> np.ndarray:
    """Return the columns of a head (v, d), and of one with a bias also that: W h + b = [W, b] (h, 1)."""
    bias = () if head.bias is None else (head.bias,)
    return np.column_stack([head.weights, *bias]).astype(np.float64)


def cut(weights: np.ndarray, rank: int) -> np.ndarray:
    """Return columns (v, rank) whose span is that of the leading left singular vectors of a head (v, d)."""
    left, sizes, _ = svd(weights - weights.mean(axis=0), full_matrices=False)
    return left[:, :rank] * sizes[:rank]


if __name__ == "__main__":
    run(main)
