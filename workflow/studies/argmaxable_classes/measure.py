"""Argmaxable classes of a model, the bytes that it can predict at all, each with a proof (Tables B.1 and B.2)."""

import numpy as np
import pyarrow as pa

from oversmoothing.argmaxability.classes import argmaxable, reachable
from oversmoothing.argmaxability.result import ARGMAXABLE, UNDECIDED
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.spectra import ALONE, read_facts, read_gain, read_head
from oversmoothing.store.parquet import read_groups, vectors, write_table
from oversmoothing.store.provenance import provenance

CLASSES = pa.schema(
    [
        ("condition", pa.string()),  # "free": for any h; "reachable": for an h that the last LayerNorm can produce
        ("class", pa.int32()),
        ("argmaxable", pa.bool_()),  # null if undecided
        ("margin", pa.float64()),  # proven lead in logits at a witness of norm 1; null without a witness
    ]
)


def main(job: Job) -> None:
    """Read a model's head, the LayerNorm before it and, if given, hidden states; write the argmaxable classes."""
    path = job.input.weights
    head, gain = read_head(path, capped=True), read_gain(path)  # a cap keeps the order of the logits
    tried = None
    if job.input.hidden:  # what enters the head at every stored position
        tried = np.concatenate([vectors(group["post"]) for group in read_groups(job.input.hidden, ["post"])])
    try:
        parts = [classes("free", head, tried)]
        if gain is not None:
            parts.append(classes("reachable", reachable(head, gain)))
        elif read_facts(path).get("head") != ALONE:  # with a Linear between LayerNorm and head, h is unconstrained
            parts.append(parts[0].set_column(0, "condition", pa.array(["reachable"] * len(head))))
    except ValueError as error:
        raise UserError(f"{path}: its head: {error}") from error
    write_table(job.output[0], pa.concat_tables(parts), provenance({}, model=job.wildcards.model))


def classes(condition: str, weights: np.ndarray, hidden: np.ndarray | None = None) -> pa.Table:
    """Decide a head's classes; return them as a table."""
    result = argmaxable(weights, hidden=hidden)
    found, v = result.status == ARGMAXABLE, len(weights)
    decided = pa.array(found, mask=result.status == UNDECIDED)
    return pa.table([[condition] * v, range(v), decided, pa.array(result.margin, mask=~found)], schema=CLASSES)


if __name__ == "__main__":
    run(main)
