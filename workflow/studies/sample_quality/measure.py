"""Measure the quality of one model's samples under every decoding, or of the human texts."""

import logging
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.hub.manifest import asset_folder
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.device import setup
from oversmoothing.models.pretrained.auto import LanguageModel, load_language_model
from oversmoothing.store.parquet import read_table, write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.store.sums import check_folder
from studies.sample_quality.byte_frequencies import byte_tv, count_bytes
from studies.sample_quality.mauve import mauve, why_not
from studies.sample_quality.perplexity import KEY, Readings, is_gpt2_large, read
from studies.sample_quality.words import sample_text, word_metrics

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
    """Read the windows and the samples (for human texts, further windows); write the quality of each set."""
    settings = job.params.settings
    device, precision = setup(job.params.device, settings)
    read_by = job.input.language_model
    if job.params.language_model:
        read_by = asset_folder(read_by)
    else:
        check_folder(read_by)
    model = load_language_model(read_by, device, KEY)
    human = read_samples(job.input.windows, "scored")
    completed = settings["completed"]
    human_readings = read_with(model, human, settings["batch"], completed, precision)
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
        rows[name] = quality(samples, readings, human, human_readings, completed, *draws)
    facts = {name: version(name) for name in ("transformers", "mauve-text", "english-words")}
    table = quality_table(rows)
    write_table(job.output[0], table, provenance(settings, gpt2_large=is_gpt2_large(model), **facts))
    logger.info("%d rows for %d sets", len(table), len(rows))


class Samples(NamedTuple):
    """A set of n samples, or of human texts in their place."""

    windows: np.ndarray  # int, shape (n,)
    prompts: list[bytes]
    continuations: list[bytes]


def read_samples(path: str | Path, continuation: str = "continuation") -> Samples:
    """Read samples, or windows, whose human continuation is the column ``scored``; a `UserError` if there are none."""
    table = read_table(path, ["window", "prompt", continuation]).sort_by("window")
    if not len(table):
        raise UserError(f"{path}: it contains no samples; delete it and run again")
    return Samples(table["window"].to_numpy(), table["prompt"].to_pylist(), table[continuation].to_pylist())


def read_with(
    model: LanguageModel, samples: Samples, batch: int, completed: Collection[str], precision: str = "float32"
) -> Readings:
    """Read with a language model the texts for perplexity and for MAUVE, once if both read the same."""
    pairs = list(zip(samples.prompts, samples.continuations, strict=True))
    of_text = {
        whole: read(model, [sample_text(*pair, whole) for pair in pairs], batch, precision)
        for whole in {name in completed for name in ("perplexity", "mauve")}
    }
    return Readings(of_text["perplexity" in completed].perplexity, of_text["mauve" in completed].features)


def quality(
    samples: Samples,
    readings: Readings | None,
    human: Samples,
    human_readings: Readings,
    completed: Collection[str],
    resamples: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Return the quality of one set of samples as rows of `QUALITY` without ``decoding`` (Tables 5.3, 6.2, 6.3, H.1).

    `samples` and `human` are sets of n texts in the order of the windows, and the readings are of the same texts. Whole
    sets are resampled by window, with the same draws for the set and for the human texts, so that the human texts match
    themselves equally well in every draw. Metrics in `completed` read the partial word at the end of the prompt before
    the continuation; the others read the continuation alone, as byte TV always does. Without readings there is no
    perplexity and no MAUVE.
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
        of_sets["mauve"] = human_readings.features, readings.features, mauve, why_not
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
