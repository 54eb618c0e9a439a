"""What the head of a model in use forces of its distance from a truth that predicts its text better."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.head import Head as Family
from oversmoothing.forced.head import prepare
from oversmoothing.forced.projection import project_on
from oversmoothing.jobs import Job, run
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.store.sealed_json import read_sealed
from studies.real_head.documents import Documents
from studies.real_head.truths import Choice, Head, distributions

ROWS = pa.schema(
    [
        ("document", pa.int32()),
        ("position", pa.int32()),
        *((name, pa.float64()) for name in ("kl", "forced", "gap")),
        *((name, pa.float64()) for name in ("loss_model", "loss_truth", "loss_nearest")),
        ("given", pa.float64()),  # the model's probability of the token that the truth raises most
        ("raised", pa.int32()),  # tokens that make up nine tenths of what the truth adds to the model
    ]
)
MOST = 0.9


def main(job: Job) -> None:
    """Read states, the head and what was chosen; write a row of `ROWS` for each position."""
    settings, truth = job.params.settings, job.params.settings["truth"]
    documents = Documents(job.input.states)
    chosen = read_sealed(job.input.choice)
    choice = Choice(chosen["sharpness"], chosen["parts"], chosen["scale"], chosen["neighbours"])
    model, head = Head.read(job.input.head), Head.read(job.input.head, settings["rank"])
    rows = measure(documents, truth, choice, model, head, settings["positions"])
    write_table(job.output[0], pa.Table.from_pylist(rows, ROWS), provenance(settings))


def measure(
    documents: Documents, truth: str, choice: Choice, model: Head, head: Head, count: int
) -> list[dict[str, Any]]:
    """Rows of `ROWS` at so many evenly spaced positions of the documents held out.

    The truth is made of `model`, the head as it is; `head`, the same or a truncated one, is held against it.
    """
    held_out, prepared = documents.held_out(), prepare(head.weights, head.bias)
    lengths = [len(documents.passage(number).states) for number in held_out]
    owner, place = _places(lengths, count)
    rows = []
    with tqdm(total=count, desc=truth, unit="position", disable=None) as shown:
        for i, number in enumerate(held_out):
            here, following = place[owner == i], documents.passage(number).next
            if not len(here):
                continue
            truths, states = distributions(documents, number, here, truth, choice, model)
            for at, p, log_q in zip(here, truths, head.log_q(states), strict=True):
                rows.append({"document": number, "position": int(at)} | _at(prepared, p, log_q, int(following[at])))
                shown.update()
    return rows


def _places(lengths: Sequence[int], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Evenly spaced positions of documents: the document of each, from 0, and the position in it."""
    ends = np.cumsum(lengths)
    places = positions_of(int(ends[-1]), count)
    owner = np.searchsorted(ends, places, side="right")
    return owner, places - np.concatenate([[0], ends])[owner]


def _at(head: Family, p: np.ndarray, log_q: np.ndarray, token: int) -> dict[str, Any]:
    nearest, q = project_on(head, p[None], log_q[None]), np.exp(log_q)
    added = np.sort(np.maximum(p - q, 0))[::-1]
    return {
        "kl": float(divergence(p[None], log_q[None])[0]),
        "forced": float(nearest.forced[0]),
        "gap": float(nearest.gap[0]),
        "loss_model": -float(log_q[token]),
        "loss_truth": -float(np.log(p[token])),
        "loss_nearest": -float(nearest.log_q[0][token]),
        "given": float(q[np.argmax(p - q)]),
        "raised": int(np.searchsorted(np.cumsum(added), MOST * added.sum()) + 1),
    }


if __name__ == "__main__":
    run(main)
