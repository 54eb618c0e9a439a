"""BAT on trial: of the bytes that a law forbids, what it and other truncations reject, and what they reject wrongly."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.bat.basis import Basis, prepare
from oversmoothing.bat.reject import reject_set
from oversmoothing.forced.divide import divide
from oversmoothing.jobs import Job, run
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.window_logits import read_logits
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance

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
LAW = "law"  # name of the truth
MASS_TOLERANCE = 1e-6


class Rival(NamedTuple):
    """A truncation beside BAT, and the values of its parameter."""

    name: str
    key: str
    values: tuple[float, ...]

    def entry(self, value: float) -> dict[str, object]:
        """Return it as an entry of the config."""
        return {"name": self.name, self.key: int(value) if self.key == "k" else value}


RIVALS = (
    Rival("top-p", "p", (0.5, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999)),
    Rival("min-p", "min_p", (0.5, 0.3, 0.2, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0003)),
    Rival("eta", "epsilon", (0.3, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001)),
)


def main(job: Job) -> None:
    """Read a model's head and logits and the law's; write sums over each window."""
    settings = job.params.settings
    model_head = read_model_head(job.input.weights)
    head, basis = model_head.prepared(), prepare(model_head.weights)
    with open_writer(job.output[0], TRIAL, provenance(settings, model=job.wildcards.model)) as writer:
        for window in tqdm(read_logits(job.input.model, {LAW: job.input.law}), unit="window", disable=None):
            at = positions_of(len(window.model), settings["per_window"])
            law = softmax(window.truths[LAW][at].astype(np.float64))
            log_q, nearest, _ = divide(head, window.model[at], law)
            rows = []
            for of, p in (("model", np.exp(log_q)), ("nearest", law if head.full else np.exp(nearest.log_q))):
                for method, parameter, rejected in rejections(basis, p, settings["deltas"]):
                    rows.append({"of": of, "method": method, "parameter": parameter, **sums(p, law, rejected)})
            facts = {"window": window.window, "n": len(at)}
            writer.write_table(pa.Table.from_pylist([facts | row for row in rows], schema=TRIAL))


def rejections(basis: Basis, p: np.ndarray, deltas: list[float]) -> Iterator[tuple[str, float, np.ndarray]]:
    """Yield method, parameter and what it rejects of distributions `p` (n, v), bool (n, v).

    BAT rejects what it proves that a truth must give nothing, no less than its undecided tokens.
    """
    for delta in deltas:
        sets = reject_set(basis, p, delta, MASS_TOLERANCE)
        yield "bat", delta, sets.rejected
    for rival in RIVALS:
        for value in rival.values:
            yield rival.name, value, decoder(rival.entry(value))(p) == 0


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
