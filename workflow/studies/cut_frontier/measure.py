"""Measure cuts of a model's distributions against each truth, at several temperatures and in both orders."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.bat.basis import Basis, prepare
from oversmoothing.jobs import Job, run
from oversmoothing.models.spectra import read_head
from oversmoothing.models.window_logits import read_logits
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.decodings.temperature import temperature
from oversmoothing.scores.files import NAME
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance
from studies.cut_frontier.cuts import FIRST, HINDSIGHT, LAST, ORACLE, Cut, cuts, of_bat
from studies.cut_frontier.plane import Plane, in_hindsight, places

MEASURES = ("leak", "kept", "reach", "impossible", "size")
SUMS = pa.schema(  # over the positions of a window
    [
        *[("window", pa.int32()), ("truth", NAME), ("temperature", pa.float64()), ("order", NAME)],
        *[("method", NAME), ("parameter", pa.float64()), ("n", pa.int32())],
        *((name, pa.float64()) for name in MEASURES),
    ]
)


def main(job: Job) -> None:
    """Read a model's logits and head and the truths' logits; write sums over each window."""
    settings, model = job.params.settings, job.wildcards.model
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    basis = prepare(read_head(job.input.weights)) if settings["deltas"] else None
    use_threads(job.threads)
    with open_writer(job.output[0], SUMS, provenance(settings, model=model)) as writer:
        for window in tqdm(read_logits(job.input.model, truths), desc=model, unit="window", disable=None):
            at = positions_of(len(window.model), settings["per_window"])
            planes = {name: Plane(logits[at], settings["tau"]) for name, logits in window.truths.items()}
            rows = [
                {"window": window.window, "truth": truth, "n": len(at), **row}
                for truth, row in measured(planes, softmax(window.model[at]), basis, settings)
            ]
            writer.write_table(pa.Table.from_pylist(rows, schema=SUMS))


def measured(
    planes: Mapping[str, Plane], q: np.ndarray, basis: Basis | None, settings: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a truth and the sums over positions of each cut of distributions `q` (n, v), at each temperature."""
    tempered = {t: temperature(q, t) for t in settings["temperatures"]}
    for (cut, t, order), keep in kept_tokens(q, tempered, basis, settings):
        for truth, plane in planes.items():
            yield truth, _row(plane, tempered[t], keep, cut, t, order)
    place = places(q)
    for t, flatter in tempered.items():
        for truth, plane in planes.items():
            yield truth, _row(plane, flatter, plane.inside, Cut(ORACLE, np.nan), t, FIRST)
            for weight, keep in in_hindsight(plane, flatter, place):
                yield truth, _row(plane, flatter, keep, Cut(HINDSIGHT, weight), t, FIRST)


def kept_tokens(
    q: np.ndarray, tempered: Mapping[float, np.ndarray], basis: Basis | None, settings: Mapping[str, Any]
) -> Iterator[tuple[tuple[Cut, float, str], np.ndarray]]:
    """Yield each cut with a temperature and an order, and the tokens that it leaves.

    At temperature 1 both orders are one. BAT cuts first, for what it supposes of the truth is about the model as it is.
    """
    for cut in cuts(settings["methods"]):
        at_once = cut.keep(q) if set(tempered) != {1} else None
        for t, flatter in tempered.items():
            yield (cut, t, FIRST), cut.keep(flatter)
            if t != 1 and at_once is not None:
                yield (cut, t, LAST), at_once
    for cut, keep in of_bat(basis, q, settings["deltas"]) if basis else ():
        for t in tempered:
            yield (cut, t, FIRST if t == 1 else LAST), keep


def _row(plane: Plane, q: np.ndarray, keep: np.ndarray, cut: Cut, t: float, order: str) -> dict[str, Any]:
    sums = {name: float(values.sum(dtype=np.float64)) for name, values in plane.measures(q, keep).items()}
    return {"temperature": t, "order": order, "method": cut.method, "parameter": cut.parameter, **sums}


if __name__ == "__main__":
    run(main)
