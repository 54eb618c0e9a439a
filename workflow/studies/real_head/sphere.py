"""What the head of a model in use forces together with the norm before it, which fixes a length."""

import pyarrow as pa
from tqdm import tqdm

from oversmoothing.forced.ellipsoid import BehindNorm
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.store.parquet import read_table, write_table
from oversmoothing.store.provenance import provenance
from studies.real_head.documents import Documents
from studies.real_head.files import read_norm
from studies.real_head.truths import Choice, Head, beside

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
    settings, head = job.params.settings, Head.read(job.input.head)
    norm = read_norm(job.input.norm, head.weights.shape[1])
    if norm is None:
        raise UserError("real_head.model: no norm is directly before its head; write real_head.sphere.positions: null")
    behind = BehindNorm(head.weights, norm.gain, head.bias + head.weights @ norm.bias, norm.centres)
    measured = read_table(job.input.forced, list(KEPT)).to_pylist()
    rows = [measured[i] for i in positions_of(len(measured), settings["positions"])]
    places = [(row["document"], row["position"]) for row in rows]
    chosen = Documents(job.input.states), settings["truth"], Choice.read(job.input.choice)
    found = tqdm(beside(*chosen, head, head, places), settings["truth"], len(rows), unit="position", disable=None)
    for row, (_, p, log_q) in zip(rows, found, strict=True):
        nearest = behind.project(p[None], log_q[None], RANDOM, ENOUGH)
        row |= {"norm_forced": float(nearest.forced[0]), "norm_gap": float(nearest.gap[0])}
    write_table(job.output[0], pa.Table.from_pylist(rows, ROWS), provenance(settings))


if __name__ == "__main__":
    run(main)
