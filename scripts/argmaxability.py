"""Argmaxable classes of a model, the bytes that it can predict at all, each with a proof (Tables B.1 and B.2)."""

from typing import TYPE_CHECKING

import pyarrow as pa

from oversmoothing.argmaxability.classes import argmaxable, reachable
from oversmoothing.jobs import UserError, run
from oversmoothing.spectra import read_gain, read_head
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake

CLASSES = pa.schema(
    [
        ("condition", pa.string()),  # "free": for any h; "reachable": for an h that the last LayerNorm can produce
        ("class", pa.int32()),
        ("argmaxable", pa.bool_()),
        ("margin", pa.float64()),  # proven lead in logits at a witness of norm 1; null without a witness
    ]
)


def main(job: "Snakemake") -> None:
    """Read a model's head and the LayerNorm before it; write the argmaxable classes, free and reachable."""
    path = job.input.weights
    head, gain = read_head(path), read_gain(path)
    parts = []
    try:
        # With a Linear between LayerNorm and head, h is unconstrained and the two conditions coincide.
        heads = {"free": head, "reachable": head if gain is None else reachable(head, gain)}
        for condition, weights in heads.items():
            result = argmaxable(weights)
            found = result.argmaxable
            columns = [[condition] * len(found), range(len(found)), found, pa.array(result.margin, mask=~found)]
            parts.append(pa.table(columns, schema=CLASSES))
    except ValueError as error:
        raise UserError(f"{path}: its head: {error}") from error
    write_table(job.output[0], pa.concat_tables(parts), provenance({}, model=job.wildcards.model, source=path))


if __name__ == "__main__":
    run(main)
