"""The matrices of Table 7.3, from positions sampled over all windows and from the head, and measures of their rank."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.drawn_rows import draw_rows, read_rows
from oversmoothing.models.logit_files import POSITION
from oversmoothing.models.spectra import read_gain, read_head
from oversmoothing.numerics.layer_norm import behind_norm
from oversmoothing.numerics.singular_values import count_above, effective_rank, singular_values
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

RANKS = pa.schema(
    [
        ("representation", pa.string()),
        ("measure", pa.string()),
        ("value", pa.float64()),
        ("n", pa.int32()),  # rows of the matrix: positions, or bytes of the vocabulary
        ("d", pa.int32()),  # columns
    ]
)
THRESHOLD = 0.01  # share of the largest singular value above which one counts
PRECISION = float(np.finfo(np.float32).eps)  # of all stored arrays


def main(job: Job) -> None:
    """Read a model's logits, hidden states and head; write the ranks of each."""
    settings = job.params.settings
    matrices = representations(job.input.logits, job.input.hidden, settings["positions"], settings["seed"])
    try:
        ranks = measure(matrices | heads(job.input.weights))
    except ValueError as error:
        raise UserError(f"{job.wildcards.model}: {error}; train it again") from error
    write_table(job.output[0], ranks, provenance(settings, model=job.wildcards.model))


def representations(logits: str | Path, hidden: str | Path, count: int, seed: int) -> dict[str, np.ndarray]:
    """Return a model's representations at `count` positions sampled over all windows, or at all if there are fewer.

    They are ``logits`` (n, v), ``probabilities`` (n, v; float64), ``post`` (n, r) and ``pre`` (n, width). The choice of
    positions depends only on their number and the seed. The files are read one row group at a time. A `UserError` is
    raised if a file is damaged or empty, the logits are not finite, or the files are of different windows.
    """
    rows = draw_rows(logits, count, seed)
    same = np.array_equal(rows, draw_rows(hidden, count, seed))  # the same rows if the files have the same length
    outer = read_rows(logits, ["logits"], rows)
    inner = read_rows(hidden, ["post", "pre"], rows) if same else {}
    if not same or any(not np.array_equal(outer[key], inner[key]) for key in POSITION):
        raise UserError(f"{hidden}: other windows than {logits}; delete both and run again")
    try:
        probabilities = softmax(outer["logits"].astype(np.float64))
    except ValueError as error:
        raise UserError(f"{logits}: {error}") from error
    return {"logits": outer["logits"], "probabilities": probabilities, "post": inner["post"], "pre": inner["pre"]}


def heads(weights: str | Path) -> dict[str, np.ndarray]:
    """Return a model's head W, ``head`` (v, r), and its restriction by the LayerNorm, ``reachable_head`` (v, r).

    The second is absent if a Linear layer lies between LayerNorm and head, because any h can then be reached.
    """
    head, gain = read_head(weights, capped=True), read_gain(weights)
    return {"head": head} if gain is None else {"head": head, "reachable_head": behind_norm(head, gain)}


def measure(matrices: Mapping[str, np.ndarray]) -> pa.Table:
    """Return measures of the rank of each matrix (n, d), schema `RANKS`.

    The measures are ``effective_rank``; ``above_threshold``, the number of singular values above `THRESHOLD` times the
    largest; and ``numerical_rank``, the number above eps / 2 sqrt(n + d + 1) times the largest, the rounding error to
    expect in float32 (Press et al. 2007). The usual max(n, d) eps is some fifty times larger and would discard true
    directions. A `ValueError` names a matrix that is empty or not finite.

    References
    ----------
    W. H. Press et al., "Numerical recipes", third edition, Cambridge 2007, section 2.6.
    """
    ranks = []
    for name, matrix in matrices.items():
        try:
            sigma = singular_values(matrix)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        values = {
            "effective_rank": effective_rank(sigma),
            "above_threshold": count_above(sigma, THRESHOLD),
            "numerical_rank": count_above(sigma, PRECISION / 2 * math.sqrt(sum(matrix.shape) + 1)),
        }
        sizes = dict(zip("nd", matrix.shape, strict=True))
        ranks += [
            {"representation": name, "measure": key, "value": float(value), **sizes} for key, value in values.items()
        ]
    return pa.Table.from_pylist(ranks, schema=RANKS)


if __name__ == "__main__":
    run(main)
