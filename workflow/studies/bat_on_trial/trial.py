"""BAT on trial: of the bytes that a law forbids, what it and other truncations reject, and what they reject wrongly."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.bat.basis import Basis, prepare
from oversmoothing.bat.reject import reject_set
from oversmoothing.forced.division import divide
from oversmoothing.jobs import Job, run
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.logit_files import read_logits
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance
from studies.bat_on_trial.rivals import BAT, DELTA, RIVALS

TRIAL = pa.schema(  # sums over the positions of a window
    [
        ("window", pa.int32()),
        ("of", pa.string()),  # "model", its distribution; "nearest", the nearest to the law that its head can give
        ("method", pa.string()),
        ("parameter", pa.float64()),
        ("n", pa.int32()),
        ("impossible", pa.float64()),  # mass on bytes that the law forbids
        ("caught", pa.float64()),  # of that, what is rejected
        ("harm", pa.float64()),  # the law's own mass on bytes that are rejected
    ]
)
POSITIONS = pa.schema(  # of the model's distribution at each position
    [
        ("window", pa.int32()),
        ("position", pa.int32()),  # from 0 at the first scored byte
        ("impossible", pa.float64()),  # mass on bytes that the law forbids
        ("tbat", pa.float64()),  # mass that BAT rejects
    ]
)
LAW = "law"  # name of the truth
MASS_TOLERANCE = 1e-6


def main(job: Job) -> None:
    """Read a model's head and logits and the law's; write sums over each window, and the masses at each position."""
    settings = job.params.settings
    model_head = read_model_head(job.input.weights)
    head, basis = model_head.prepared(), prepare(model_head.weights)
    how = provenance(settings, model=job.wildcards.model)
    with (
        open_writer(job.output.trial, TRIAL, how) as trial,
        open_writer(job.output.positions, POSITIONS, how) as positions,
    ):
        for window in tqdm(read_logits(job.input.model, {LAW: job.input.law}), unit="window", disable=None):
            at = positions_of(len(window.model), settings["per_window"])
            law = softmax(window.truths[LAW][at].astype(np.float64))
            log_q, nearest, _ = divide(head, window.model[at], law)
            q = np.exp(log_q)
            rows: list[dict[str, Any]] = []
            for of, p in (("model", q), ("nearest", law if head.full else np.exp(nearest.log_q))):
                for method, parameter, rejected in rejections(basis, p):
                    if not rows:  # BAT comes first
                        masses = {"impossible": (q * (law == 0)).sum(axis=1), "tbat": (q * rejected).sum(axis=1)}
                    facts = {"window": window.window, "of": of, "method": method, "parameter": parameter, "n": len(at)}
                    rows.append(facts | sums(p, law, rejected))
            trial.write_table(pa.Table.from_pylist(rows, schema=TRIAL))
            columns = {"window": np.full(len(at), window.window), "position": at, **masses}
            positions.write_table(pa.table(columns, schema=POSITIONS))


def rejections(basis: Basis, p: np.ndarray) -> Iterator[tuple[str, float, np.ndarray]]:
    """Yield method, parameter and what it rejects of distributions `p` (n, v), bool (n, v): of BAT what it proves."""
    yield BAT, DELTA, reject_set(basis, p, DELTA, MASS_TOLERANCE).rejected
    for rival in RIVALS:
        for value in rival.values:
            yield rival.name, value, decoder({"name": rival.name, rival.key: value})(p) == 0


def sums(p: np.ndarray, law: np.ndarray, rejected: np.ndarray) -> dict[str, float]:
    """Sum, over n positions, the mass on impossible bytes, what of it is rejected, and the law's mass rejected."""
    impossible = law == 0
    return {
        "impossible": float(p[impossible].sum()),
        "caught": float(p[impossible & rejected].sum()),
        "harm": float(law[rejected].sum()),
    }


if __name__ == "__main__":
    run(main)
