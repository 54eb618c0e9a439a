"""Measure how much a language model oversmooths beside another: write a config, run the workflow, print the table."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import yaml
from tqdm import tqdm

from oversmoothing.commands import over_bytes, side_by_side
from oversmoothing.commands.arguments.compare_models import FEW, LARGE, NAME
from oversmoothing.commands.forecast import Starts, count_jobs, forecast
from oversmoothing.commands.output import beside, write_output
from oversmoothing.commands.over_bytes import cell, rows_of
from oversmoothing.commands.two_models import (
    CONFIGS,
    WIDTH,
    Pair,
    finish,
    laid_out,
    lengths,
    make,
    start,
    write_config,
)
from oversmoothing.printable import printable_lines
from oversmoothing.scores.catalogue.metrics import KL_FLOOR
from oversmoothing.store.atomic import json_text
from oversmoothing.tables.page import labelled
from oversmoothing.tables.record import numbers, read_record, record

if TYPE_CHECKING:
    from oversmoothing.commands.trial import Trial
    from oversmoothing.models.logit_files import WindowLogits
    from oversmoothing.scores.probabilities import Decoder

SIDE_BY_SIDE = "side_by_side"
PRINTED = ("losses", "oversmoothing", "forced", SIDE_BY_SIDE)
OF_LINEAR = ("forced", "tbat")  # tables that need linear logits
REPORT = "report.html"
OF_HEAD = "; TBAT is of the model alone. Forced is what any model with this head has of KL."
CAPPED = (
    ". TBAT and the part of KL that its head forces are left out, because they need logits that are linear in what "
    "enters the head, and those of {model} are capped at {cap:g}."
)


def main(asked: argparse.Namespace) -> int:
    """Compare what the arguments name (`arguments.compare_models`), print it, and return the exit status."""
    with beside(asked.json):
        code, pair, measured = compare(asked)
    if pair is None:
        return code
    if asked.json:
        write_output("--json", asked.json, json_text(f"--json {asked.json}", measured))
    with beside(asked.json):
        print(f"\n{finish(pair, REPORT)}")
    return 0


def compare(asked: argparse.Namespace) -> tuple[int, Pair | None, dict[str, Any]]:
    """Run the comparison and print it; return the exit status, and if it is 0 the pair and what `--json` writes."""
    code, pair = start(asked, NAME, scored(asked), OF_LINEAR)
    if pair is None:
        return code, None, {}
    tried = None
    if pair.why:
        over_bytes.begin(asked, pair)
    else:
        tried = begin(asked, pair)
    if code := make(pair, PRINTED):
        return code, None, {}
    made = [table for table in PRINTED if table in pair.config["wanted"]]
    tables = {table: read_record(pair.results / f"tables/{table}.csv") for table in made}
    if tried is None:
        text, last = over_bytes.report(tables, pair), clip(pair)
    else:
        tables["acceptance"] = acceptance(pair)
        text = report(tables, pair)
        last = f"{noise(tried, pair.model)} {clip(pair)}"
    measures = side_by_side.report(tables[SIDE_BY_SIDE], "byte" if pair.why else "token")
    print(printable_lines(f"{text}\n\n{measures}\n\n{fill(last, WIDTH)}"), flush=True)
    return 0, pair, as_json(pair, tables, tried)


def as_json(pair: Pair, tables: Mapping[str, pd.DataFrame], tried: "Trial | None") -> dict[str, Any]:
    """Return what `--json` writes: the rows of all printed tables, without empty columns, and the noise floor."""
    rows = {
        name: [{key: value for key, value in row.items() if pd.notna(value)} for row in table.to_dict("records")]
        for name, table in tables.items()
    }
    noise = None if tried is None else {"mean": tried.noise, "largest": tried.largest, "precision": tried.precision}
    return {
        "model": {"name": pair.model, "hub": pair.config["family"][0]["hub"]},
        "truth": {"name": pair.truth, "hub": pair.config["truths"][0]["hub"]},
        "windows": pair.config["windows"],
        "unit": "byte" if pair.why else "token",
        "tables": rows,
        "noise": noise,
    }


def begin(asked: argparse.Namespace, pair: Pair) -> "Trial":
    """Try both models, choose where TBAT is computed, and print how long the comparison takes."""
    from oversmoothing.commands.trial import trial  # with PyTorch, which takes seconds

    starts = count_jobs(pair)
    tried = trial(asked, pair)
    if pair.cap is None and asked.tbat is None and tried.tokens > LARGE and asked.windows > FEW:
        pair.config["metrics"]["tbat"]["windows"] = FEW
        write_config(pair.results / CONFIGS[NAME], pair.config)
    print(estimate(tried, asked, pair.config, starts), flush=True)
    return tried


def estimate(tried: "Trial", asked: argparse.Namespace, config: Mapping[str, Any], starts: Starts) -> str:
    """Return how long a comparison takes on this machine, what takes it, and which option lowers it."""
    windows, decodings = config["metrics"]["tbat"].get("windows", asked.windows), len(config["decodings"])
    parts = {f"both models on {_counted(asked.windows, 'passage')} (--windows)": asked.windows * tried.passage}
    parts["scores"] = asked.windows * tried.scores
    if tried.tbat is not None and tried.forced is not None:
        n = windows * min(asked.tbat or 1, lengths(asked)[1])
        parts[f"TBAT at {_counted(n, 'position')} in {decodings} decodings (--tbat)"] = n * tried.tbat
        n = asked.windows * min(asked.forced, lengths(asked)[1])
        parts[f"what the head forces at {_counted(n, 'position')} (--forced)"] = n * tried.forced
    text = forecast(parts, starts, asked.cores, "the first passages")
    if windows == asked.windows:
        return text
    fewer = f"Over {tried.tokens:,} tokens TBAT is computed in {windows} of the passages; --tbat 1: in all."
    return f"{text}\n{fill(fewer, WIDTH)}"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def noise(tried: "Trial", model: str) -> str:
    """Return how large a KL is noise."""
    return (
        f"Noise floor: of {model} in {tried.precision}, several passages at a time, KL to itself in float32, one at a "
        f"time, is {tried.noise:.1g} nats on average and {tried.largest:.1g} at most "
        f"({_counted(tried.passages, 'passage')})."
    )


def acceptance(pair: Pair) -> pd.DataFrame:
    """Return how often the truth accepts a token that the model drafts, a row for each decoding of both."""
    from oversmoothing.numerics.statistics import WindowSums, summarise
    from oversmoothing.scores.decoding import decoder, decoding_name
    from oversmoothing.scores.probabilities import softmax

    decoders = {decoding_name(entry): decoder(entry) for entry in pair.config["decodings"]}
    sums = {name: WindowSums() for name in decoders}
    for window in tqdm(_windows(pair), desc="acceptance", unit="window", disable=None):
        draft, truth = softmax(window.model), softmax(window.truths[pair.truth])
        for name, decode in decoders.items():
            rates = accepted(draft, truth, decode).astype(np.float32)  # as in files of scores
            sums[name].add(np.full(len(rates), window.window), rates)
    statistics = yaml.safe_load(Path("config/config.yaml").read_text(encoding="utf-8"))["statistics"]
    facts = {"model": pair.model, "measure": "acceptance"}
    return record(facts | {"decoding": name} | numbers(summarise(of, **statistics)) for name, of in sums.items())


def accepted(draft: np.ndarray, truth: np.ndarray, decode: "Decoder") -> np.ndarray:
    """Return the probability (n,) that a truth accepts a drafted token, of distributions (n, v) that `decode` changes.

    A token x drafted from q is accepted with probability min(1, p(x) / q(x)), hence at a rate of sum_i min(p_i, q_i)
    (Leviathan et al. 2023, section 3).
    """
    return np.minimum(decode(draft), decode(truth)).sum(axis=1, dtype=np.float64)


def clip(pair: Pair) -> str:
    """Return how often KL clips the model's probabilities."""
    from oversmoothing.scores.metrics import clipped, softmax

    both = ((softmax(each.model), softmax(each.truths[pair.truth])) for each in _windows(pair))
    mass = np.concatenate([clipped(model, truth) for model, truth in both])
    return (
        f"KL takes a probability below {KL_FLOOR:g} for {KL_FLOOR:g}: that lowers it at {(mass > 0).mean():.2%} of the "
        f"positions, on tokens with {mass.mean():.2g} of the truth's probability."
    )


def _windows(pair: Pair) -> "Iterator[WindowLogits]":
    from oversmoothing.models.logit_files import read_logits

    logits = {name: pair.results / f"logits/{name}.parquet" for name in (pair.model, pair.truth)}
    return read_logits(logits[pair.model], {pair.truth: logits[pair.truth]})


def report(tables: Mapping[str, pd.DataFrame], pair: Pair) -> str:
    """Lay out losses, scores, what the head forces and acceptance of a model beside its truth, in 80 columns."""
    scores, drafts, model, truth = tables["oversmoothing"], tables["acceptance"], pair.model, pair.truth
    kinds = {"loss": "loss, nats per token", "loss_per_byte": "loss, nats per byte"}
    rows = rows_of(tables, kinds, model, truth)
    if pair.cap is None:
        for name, label in {"forced": "KL forced by its head", "share": "share of KL forced"}.items():
            rows.append([labelled(label, "lower"), cell(tables["forced"], model, name), ""])
        tbat = scores[scores.measure == "tbat"].iloc[0]
        at = tables["forced"][tables["forced"].measure == "forced"].iloc[0]
        wide = f", the middle of a bracket that is {tbat.bracket:.2g} wide on average" if pd.notna(tbat.bracket) else ""
        fewer = f" (TBAT: {int(tbat.n):,}{wide}; forced: {int(at.n):,})"
        of_head = OF_HEAD
    else:
        fewer, of_head = "", CAPPED.format(model=model, cap=pair.cap)
    for decoding in pair.config["decodings"]:
        decoded = drafts[drafts.decoding == decoding["name"]]
        rows.append([labelled(f"acceptance, {_described(decoding)}", "higher"), cell(decoded, model, "acceptance"), ""])
    note = (
        f"Means over {int(scores.n.max()):,} positions{fewer} [95 % interval]. TTO, NSMD, TV and KL are against "
        f"{truth} and grow with any error, so beside a higher loss they are no evidence of a softmax bottleneck"
        f"{of_head} Acceptance is the probability that speculative sampling keeps a token that {model} drafts for "
        f"{truth}, both decoded in the same way."
    )
    return laid_out(rows, ["", model, truth], note)


def _described(decoding: Mapping[str, Any]) -> str:
    """A decoding in few characters: "top-p 0.9", "T = 0.8"."""
    name, *values = decoding.values()
    return f"T = {values[0]:g}" if name == "temperature" else " ".join([name, *(f"{value:g}" for value in values)])


def scored(asked: argparse.Namespace) -> dict[str, Any]:
    """What the config says of decodings and metrics."""
    return {
        "decodings": [
            {"name": "pure"},
            {"name": "greedy"},
            {"name": "top-k", "k": 5},
            {"name": "top-p", "p": asked.top_p},
            {"name": "temperature", "temperature": asked.temperature},
        ],
        "metrics": {
            "tbat": {"mass_tolerance": 0.001, "per_window": asked.tbat or 1, "approximations": []},
            "forced": {"per_window": asked.forced},
        },
    }
