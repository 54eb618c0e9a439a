"""The law of what a rank costs, fitted to the ladder, and its predictions of larger models before they are measured."""

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.tables.record import read_record
from studies.leak_at_equal_loss.table import LOSS as VALIDATION
from studies.leak_at_equal_loss.table import ON_WINDOWS
from studies.size_ladder.elsewhere import places
from studies.size_ladder.law import Fitted, resampled
from studies.size_ladder.parts import OWN
from studies.size_ladder.table import ADDED, BEST, FORCED, REST, TRAINED

logger = logging.getLogger(__name__)

MOST = {"tto": 1, "tv": 1}  # beyond which a law says nothing
PREDICTED = (ON_WINDOWS, VALIDATION, "tto", "tv", "kl", ADDED, BEST, TRAINED, FORCED, REST)
PLACE = ("place", "weights", "bytes")
LAW = "law"  # in the place of a place: a coefficient
SCATTER, SIZE_0, TEXT_0 = "scatter", "size_0", "text_0"
PREDICTIONS = pa.schema(
    [
        ("place", pa.string()),  # of which models: of a size held out, or elsewhere; or `LAW`
        ("rank", pa.int32()),
        ("weights", pa.int64()),  # N
        ("bytes", pa.int64()),  # D
        ("truth", pa.string()),
        ("measure", pa.string()),  # what the rank adds to full rank
        ("coefficient", pa.string()),  # null of a prediction
        ("value", pa.float64()),
        ("low", pa.float64()),  # 95 % interval; of a prediction, of what a single seed shows
        ("high", pa.float64()),
        ("note", pa.string()),  # why there is no number
    ]
)


def main(job: Job) -> None:
    """Read what each seed of the ladder adds; write coefficients and predictions."""
    settings = job.params.settings
    rows = list(predictions(read_record(job.input[0]), settings["places"], settings["resamples"], settings["seed"]))
    write_table(job.output[0], pa.Table.from_pylist(rows, schema=PREDICTIONS), provenance(settings))


def predictions(
    by_seed: pd.DataFrame, held: Sequence[Mapping[str, Any]], resamples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the coefficients of each law and its predictions, of sizes held out and of models elsewhere.

    `held` has ``place``, ``weights``, ``bytes`` and ``ranks``. Where there is no law or no prediction, `note` says why.
    Best heads for the truth that stays are the same at all sizes, so there is no law of them.
    """
    same = (by_seed.measure == BEST) & (by_seed.truth != OWN)
    shown = by_seed[by_seed.measure.isin(PREDICTED) & ~same]
    for (measure, truth, rank), own in shown.groupby(["measure", "truth", "rank"], dropna=False, sort=False):
        known = {"rank": int(rank), "truth": None if pd.isna(truth) else truth, "measure": measure}
        elsewhere = [place for place in places() if place["rank"] == rank]
        at = [
            *({**{of: place[of] for of in PLACE}, "rank": int(rank)} for place in held if rank in place["ranks"]),
            *elsewhere,
        ]
        try:
            fitted = law_of(own, resamples, seed)
        except ValueError as error:
            logger.warning("%s: no law: %s", " ".join(str(of) for of in known.values()), error)
            yield from ({**known, **place, "note": f"no law: {error}"} for place in at)
            continue
        for name, (value, low, high) in fitted.coefficients().items():
            yield {**known, "place": LAW, "coefficient": name, "value": value, "low": low, "high": high}
        size, text = fitted.law.centre
        for name, value in {SCATTER: fitted.scatter, SIZE_0: size, TEXT_0: text}.items():
            yield {**known, "place": LAW, "coefficient": name, "value": value}
        for place in at:
            value, low, high = fitted.predict(place["weights"], place["bytes"])
            most = MOST.get(measure, math.inf)
            if value > most:
                yield {**known, **place, "note": f"the law says {value:.3g}, and {measure} is at most {most}"}
            else:
                yield {**known, **place, "value": value, "low": low, "high": min(high, most)}


def law_of(own: pd.DataFrame, resamples: int, seed: int) -> Fitted:
    """Return the law of one measure, truth and rank; a `ValueError` says why there is none."""
    rungs = [(key, rung.value.to_numpy(float)) for key, rung in own.groupby(["weights", "bytes"])]
    size, text = (np.array([key[i] for key, _ in rungs], float) for i in (0, 1))
    return resampled(size, text, [values for _, values in rungs], resamples, seed)


if __name__ == "__main__":
    run(main)
