"""Measure the quality of one model's samples under every decoding, or of the human texts."""

import logging
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.device import setup
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.sample_quality.byte_frequencies import byte_tv, count_bytes
from studies.sample_quality.mauve import mauve, why_not
from studies.sample_quality.perplexity import Readings, is_gpt2_large
from studies.sample_quality.readings import Samples, load_judge, read_features, read_samples, read_with
from studies.sample_quality.words import word_metrics

logger = logging.getLogger(__name__)

NAME = pa.dictionary(pa.int16(), pa.string())
QUALITY = pa.schema(
    [
        ("decoding", NAME),  # for human text: which of the two sets
        ("metric", NAME),  # see metrics.MEASURES
        ("window", pa.int32()),  # null for metrics of the whole set
        ("resample", pa.int32()),  # for metrics of a set, the draw of windows; null: no resampling
        ("value", pa.float64()),  # null if undefined
        ("note", NAME),  # why it is undefined
    ]
)
UNSCORED = "a sample of fewer than two tokens has no perplexity"
UNBOUNDED = "the perplexity of a sample is beyond all numbers"


def main(job: Job) -> None:
    """Read windows, the features of their texts, and samples (or further windows); write the quality of each set."""
    settings = job.params.settings
    device, precision = setup(job.params.device, settings)
    model = load_judge(job, device)
    human = read_samples(job.input.windows, "scored")
    human_features = read_features(job.input.human_features)
    completed = settings["completed"]
    rows = {}
    sets = list(zip(settings["sets"], job.input.samples, strict=True))
    for name, path in tqdm(sets, desc="quality", unit="set", disable=None):
        samples = read_samples(path, settings["column"])
        if len(samples.windows) != len(human.windows):
            count = f"{len(samples.windows)} samples, but {len(human.windows)} windows"
            raise UserError(f"{path}: {count}: delete the samples and run again")
        readings = None
        if name in settings["reads"]:
            readings = read_with(model, samples, settings["batch"], completed, precision)
        draws = settings["resamples"], settings["seed"]
        rows[name] = quality(samples, readings, human, human_features, completed, *draws)
    facts = {name: version(name) for name in ("transformers", "mauve-text", "english-words")}
    table = quality_table(rows)
    write_table(job.output[0], table, provenance(settings, gpt2_large=is_gpt2_large(model), **facts))
    logger.info("%d rows for %d sets", len(table), len(rows))


def quality(
    samples: Samples,
    readings: Readings | None,
    human: Samples,
    human_features: np.ndarray,
    completed: Collection[str],
    resamples: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Return the quality of one set of samples as rows of `QUALITY` without ``decoding`` (Tables 5.3, 6.2, 6.3, H.1).

    `samples` and `human` are sets of n texts in the order of the windows, the readings are of the samples, and the
    features, (n, d), of the human texts. Whole sets are resampled by window, with the same draws for the set and for
    the human texts, so that the human texts match themselves equally well in every draw. Metrics in `completed` read
    the partial word at the end of the prompt before the continuation; the others read the continuation alone, as byte
    TV always does. Without readings there is no perplexity and no MAUVE.
    """
    rows, n = [], len(samples.windows)
    perplexities = [{"perplexity": value} for value in readings.perplexity.tolist()] if readings else [{}] * n
    for window, prompt, text, by_reading in zip(*samples, perplexities, strict=True):
        values = by_reading | word_metrics(prompt, text, completed)
        note = UNBOUNDED if np.isinf(by_reading.get("perplexity", 0)) else UNSCORED
        rows += [_row(metric, value, window=int(window), note=note) for metric, value in values.items()]
    draws = np.random.default_rng([seed, n]).integers(0, n, size=(resamples, n))
    of_sets: dict[str, tuple[Any, Any, Any, Any]] = {}
    if readings:
        of_sets["mauve"] = human_features, readings.features, mauve, why_not
    of_sets["byte_tv"] = count_bytes(human.continuations), count_bytes(samples.continuations), byte_tv, None
    for metric, (theirs, ours, formula, hindrance) in of_sets.items():
        if hindrance and (reason := hindrance(theirs, ours)):
            rows.append(_row(metric, np.nan, note=reason))
            continue
        rows.append(_row(metric, formula(theirs, ours)))
        rows += [_row(metric, formula(theirs[draw], ours[draw]), resample=i) for i, draw in enumerate(draws)]
    return rows


def quality_table(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> pa.Table:
    """Return one table with schema `QUALITY` of the rows of several sets, by decoding."""
    whole = [{"decoding": decoding, **row} for decoding, of_set in rows.items() for row in of_set]
    return pa.Table.from_pylist(whole, schema=QUALITY)


def _row(
    metric: str, value: float, window: int | None = None, resample: int | None = None, note: str | None = None
) -> dict[str, Any]:
    known = {"value": value, "note": None} if np.isfinite(value) else {"value": None, "note": note}
    return {"metric": metric, "window": window, "resample": resample, **known}


if __name__ == "__main__":
    run(main)
