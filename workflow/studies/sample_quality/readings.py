"""Texts as the language model reads them: sets of samples, their readings, and the features of human texts."""

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from oversmoothing.hub.manifest import asset_folder
from oversmoothing.jobs import Job, UserError
from oversmoothing.models.pretrained.auto import LanguageModel, load_language_model
from oversmoothing.store.parquet import read_table, vectors
from oversmoothing.store.sums import check_folder
from studies.sample_quality.perplexity import KEY, Readings, read
from studies.sample_quality.words import sample_text


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


def load_judge(job: Job, device: torch.device) -> LanguageModel:
    """Load the language model that a job names: an asset if `params.language_model` is given, else ours."""
    folder = job.input.language_model
    if job.params.language_model:
        folder = asset_folder(folder)
    else:
        check_folder(folder)
    return load_language_model(folder, device, KEY)


def read_features(path: str | Path) -> np.ndarray:
    """Read the features of the human texts, float32 (n, d), in the order of their windows."""
    table = read_table(path, ["window", "features"]).sort_by("window")
    return vectors(table["features"].combine_chunks())
