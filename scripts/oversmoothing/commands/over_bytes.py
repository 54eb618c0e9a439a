"""Two models compared by their distributions of bytes, whatever their tokenizers."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from oversmoothing.commands.forecast import count_jobs, forecast
from oversmoothing.commands.two_models import Pair, laid_out
from oversmoothing.data.tokens.alike import PROBE
from oversmoothing.data.tokens.limits import encoded
from oversmoothing.data.tokens.vocabulary import Before, first_difference
from oversmoothing.data.windows import read_windows
from oversmoothing.models.byte_windows import readings
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.tables.page import labelled


def differ(one: Path, other: Path) -> str | None:
    """Return in words how the tokenizers of two models differ; None if they divide texts alike."""
    from oversmoothing.models.source import tokenizer_of  # with PyTorch, which takes seconds

    (first, tokens), (second, others) = (tokenizer_of(folder) for folder in (one, other))
    if difference := first_difference(tokens, others):
        return difference
    ids = (encoded(each, PROBE).ids for each in (first, second))
    return None if next(ids) == next(ids) else "their tokens are the same, but they divide texts differently"


def described(folders: Mapping[str, Path], bos: Before | str) -> dict[str, Any]:
    """What the files of each model say, by what the user wrote, each with its own tokenizer."""
    from oversmoothing.models.source import tokenizer_of
    from oversmoothing.models.truths.load import check_token_lm

    return {name: check_token_lm(folder, name, tokenizer_of(folder)[1], bos) for name, folder in folders.items()}


def begin(asked: argparse.Namespace, pair: Pair) -> None:
    """Read the first passage with both models, and print how long the comparison takes here, judged by it."""
    from oversmoothing.models.device import setup  # with PyTorch, which takes seconds
    from oversmoothing.models.truths.byte_view import load_byte_view

    starts = count_jobs(pair)
    reading = next(readings(read_windows(pair.results / "windows.parquet").slice(0, 1)))
    compute = setup(asked.device, {"precision": asked.precision, "threads": 1})  # as the jobs do
    seconds = 0.0
    for name, folder in zip((asked.model, asked.truth), pair.folders, strict=True):
        view = load_byte_view(folder, name, {"bos": asked.bos, "temperature": 1.0}, *compute)
        view.next_bytes(reading.text, reading.start)  # learns where the tokenizer cuts, once
        begun = perf_counter()
        view.next_bytes(reading.text, reading.start)
        seconds += perf_counter() - begun
    passages = f"both models on {asked.windows:,} passages (--windows)"
    parts = {passages: asked.windows * seconds}
    print(forecast(parts, starts, asked.cores, "the first passage"), flush=True)


def report(tables: Mapping[str, pd.DataFrame], pair: Pair) -> str:
    """Lay out losses and scores of a model beside its truth, for a terminal of 80 columns."""
    logits = [pq.read_metadata(pair.results / f"logits/{name}.parquet") for name in (pair.model, pair.truth)]
    kinds = {"loss": "loss, nats per byte", "bits_per_byte": "loss, bits per byte"}
    rows = rows_of(tables, kinds, pair.model, pair.truth)
    rows.append(["dropped", *(f"{float((each.metadata or {})[b'special_mass_mean']):.2g}" for each in logits)])
    note = (
        f"Over bytes, {pair.why}. Means over {int(tables['oversmoothing'].n.max()):,} positions [95 % interval]. TTO, "
        f"NSMD, TV and KL are against {pair.truth} and grow with any error, so beside a higher loss they are no "
        "evidence of a softmax bottleneck. Dropped: mean probability of what stands for no byte, such as the end of a "
        "text. TBAT, what the head forces, acceptance and unargmaxable tokens are left out: a distribution of bytes is "
        "no softmax of few dimensions."
    )
    return laid_out(rows, ["", pair.model, pair.truth], note)


def rows_of(tables: Mapping[str, pd.DataFrame], losses: Mapping[str, str], model: str, truth: str) -> list[list[str]]:
    """Return a row for each of some losses, by measure and label, of both models, and for each score of the model."""
    rows = [
        [labelled(label, "lower"), *(cell(tables["losses"], name, measure) for name in (model, truth))]
        for measure, label in losses.items()
    ]
    scores = tables["oversmoothing"]
    for name in scores.measure.unique():
        rows.append([labelled(METRICS[name].label, METRICS[name].better), cell(scores, model, name), ""])
    return rows


def cell(table: pd.DataFrame, model: str, measure: str) -> str:
    """Value and interval of a measure of a model."""
    row = table[(table.model == model) & (table.measure == measure)].iloc[0]
    return f"{row.value:.4f}" + (f" [{row.low:.4f}, {row.high:.4f}]" if pd.notna(row.low) else "")
