"""What the head of a model in use forces together with the norm before it, which fixes a length."""

from itertools import groupby

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.forced.ellipsoid import BehindNorm
from oversmoothing.jobs import Job, run
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.store.parquet import read_table, write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.store.sealed_json import read_sealed
from studies.real_head.documents import Documents
from studies.real_head.truths import Choice, Head, distributions

RANDOM = 0  # descents from random points: over a large vocabulary each takes seconds
ENOUGH = 1e-4  # nats: a gap at which no further start is tried
KEPT = ("document", "position", "kl", "forced", "gap")  # of `measure.ROWS`
ROWS = pa.schema(
    [
        *[("document", pa.int32()), ("position", pa.int32())],
        *((name, pa.float64()) for name in ("kl", "forced", "gap", "norm_forced", "norm_gap")),
    ]
)


def main(job: Job) -> None:
    """Read states, the head, its norm and what the head alone forces; write a row of `ROWS` for some positions."""
    settings, documents = job.params.settings, Documents(job.input.states)
    chosen = read_sealed(job.input.choice)
    choice = Choice(*(chosen[name] for name in ("sharpness", "parts", "scale", "neighbours")))
    norm, head = read_sealed(job.input.norm), Head.read(job.input.head)
    behind = behind_norm(head, norm)
    measured = read_table(job.input.forced, list(KEPT)).to_pylist()
    some, rows = [measured[i] for i in positions_of(len(measured), settings["positions"])], []
    with tqdm(total=len(some), desc=settings["truth"], unit="position", disable=None) as shown:
        for number, of_document in groupby(some, lambda row: row["document"]):
            here = list(of_document)
            places = [row["position"] for row in here]
            truths, states = distributions(documents, number, places, settings["truth"], choice, head)
            for row, p, log_q in zip(here, truths, head.log_q(states), strict=True):
                nearest = behind.project(p[None], log_q[None], RANDOM, ENOUGH)
                rows.append({**row, "norm_forced": float(nearest.forced[0]), "norm_gap": float(nearest.gap[0])})
                shown.update()
    write_table(job.output[0], pa.Table.from_pylist(rows, ROWS), provenance(settings))


def behind_norm(head: Head, norm: dict) -> BehindNorm:
    """Return a head behind its norm, prepared; `norm` is what `norm.main` wrote."""
    gain, bias = (np.array(norm[name]) for name in ("gain", "bias"))
    return BehindNorm(head.weights, gain, head.bias + head.weights @ bias, norm["centres"])


if __name__ == "__main__":
    run(main)
