"""What the head of a model in use forces of its distance from a truth that predicts its text better."""

from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.measures.nearest import nearest, whole
from oversmoothing.models.heads import ModelHead
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.real_head.documents import Documents
from studies.real_head.truths import Choice, Head, beside

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
    """Read states, the head and what was chosen; write a row of `ROWS` at evenly spaced positions held out."""
    settings, documents = job.params.settings, Documents(job.input.states)
    heads = Head.read(job.input.head), Head.read(job.input.head, settings["rank"])
    head = ModelHead(heads[1].weights, bias=heads[1].bias)
    following = {number: documents.passage(number).next for number in documents.held_out}
    places = [(number, position) for number, tokens in following.items() for position in range(len(tokens))]
    some = [places[i] for i in positions_of(len(places), settings["positions"])]
    measured = beside(documents, settings["truth"], Choice.read(job.input.choice), *heads, some)
    rows = [
        {"document": number, "position": position} | _at(head, p, log_q, following[number][position])
        for (number, position), p, log_q in tqdm(measured, settings["truth"], len(some), unit="position", disable=None)
    ]
    write_table(job.output[0], pa.Table.from_pylist(rows, ROWS), provenance(settings))


def _at(head: ModelHead, p: np.ndarray, log_q: np.ndarray, token: int) -> dict[str, Any]:
    found, q = nearest(head, p[None], log_q[None]), np.exp(log_q)
    added = np.sort(np.maximum(p - q, 0))[::-1]
    return {
        "kl": float(whole(p[None], log_q[None])[0]),
        "forced": float(found.forced[0]),
        "gap": float(found.gap[0]),
        "loss_model": -float(log_q[token]),
        "loss_truth": -float(np.log(p[token])),
        "loss_nearest": -float(found.log_q[0][token]),
        "given": float(q[np.argmax(p - q)]),
        "raised": int(np.searchsorted(np.cumsum(added), MOST * added.sum()) + 1),
    }


if __name__ == "__main__":
    run(main)
