"""Measure how much a language model oversmooths beside another: write a config, run the workflow, print the table."""

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from textwrap import fill
from typing import Any

import pandas as pd
from tabulate import tabulate

from oversmoothing.commands.two_models import add_arguments, run
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.tables.page import labelled
from oversmoothing.tables.record import read_record

PRINTED = ("losses", "oversmoothing", "forced", "acceptance")
OF_LINEAR = ("forced", "tbat")  # tables that need linear logits
REPORT = "report.html"
WIDTH = 80  # of a terminal
OF_HEAD = "; TBAT is of the model alone. Forced is what any model with this head has of KL."
CAPPED = (
    ". TBAT and the part of KL that its head forces are left out, because they need logits that are linear in what "
    "enters the head, and those of {model} are capped at {cap:g}."
)


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    asked = parser().parse_args(arguments)
    code, pair = run(asked, "compare-models", scored(asked), REPORT, OF_LINEAR)
    if pair is None:
        return code
    made = [table for table in PRINTED if pair.cap is None or table not in OF_LINEAR]
    tables = {table: read_record(pair.results / f"tables/{table}.csv") for table in made}
    print(report(tables, pair.config["decodings"], pair.model, pair.truth, pair.cap))
    results = pair.results
    print(f"\ntables and figures: {results}/tables, {results}/figures; all on one page: {results}/{REPORT}")
    return 0


def parser() -> argparse.ArgumentParser:
    """Parser of the command's arguments."""
    command = argparse.ArgumentParser(prog="oversmoothing compare-models", description=__doc__)
    add_arguments(command)
    number = partial(command.add_argument, type=int, metavar="N")
    at = "positions of each passage at which {} is computed (default: 1)"
    number("--tbat", default=1, help=at.format("TBAT"))
    number("--forced", default=1, help=at.format("what the model's head forces"))
    accepted = "one of the decodings; for acceptance of both models (default: 0.8)"
    command.add_argument("--temperature", type=float, default=0.8, metavar="T", help=accepted)
    command.add_argument("--top-p", type=float, default=0.9, metavar="P", help="another one (default: 0.9)")
    return command


def report(
    tables: Mapping[str, pd.DataFrame],
    decodings: Sequence[Mapping[str, Any]],
    model: str,
    truth: str,
    cap: float | None = None,
) -> str:
    """Lay out the tables `PRINTED` of a model beside its truth, for a terminal of 80 columns.

    `cap` is the c of a model whose logits are c tanh(z / c); it has no TBAT and no table ``forced``.
    """
    losses, scores, acceptance = (tables[name] for name in PRINTED if name != "forced")
    lines = [
        ("loss, nats per token", "lower", losses, "loss"),
        ("loss, nats per byte", "lower", losses, "loss_per_byte"),
        *((METRICS[name].label, METRICS[name].better, scores, name) for name in scores.measure.unique()),
    ]
    if cap is None:
        lines.append(("KL forced by its head", "lower", tables["forced"], "forced"))
        lines.append(("share of KL forced", "lower", tables["forced"], "share"))
    for decoding in decodings:
        accepted = acceptance[acceptance.decoding == decoding["name"]]
        lines.append((f"acceptance, {_described(decoding)}", "higher", accepted, "acceptance"))
    rows = [
        [labelled(label, better), _cell(values, model, name), _cell(values, truth, name) if values is losses else ""]
        for label, better, values, name in lines
    ]
    if cap is not None:
        fewer, of_head = "", CAPPED.format(model=model, cap=cap)
    else:
        tbat = scores[scores.measure == "tbat"].iloc[0]
        at = tables["forced"][tables["forced"].measure == "forced"].iloc[0]
        wide = f", the middle of a bracket that is {tbat.bracket:.2g} wide on average" if pd.notna(tbat.bracket) else ""
        fewer = f" (TBAT: {int(tbat.n):,}{wide}; forced: {int(at.n):,})"
        of_head = OF_HEAD
    note = (
        f"Means over {int(scores.n.max()):,} positions{fewer} [95 % interval]. TTO, NSMD, TV and KL are against "
        f"{truth} and grow with any error, so beside a higher loss they are no evidence of a softmax bottleneck"
        f"{of_head} Acceptance is the probability that speculative sampling keeps a token that {model} drafts for "
        f"{truth}, both decoded in the same way."
    )
    table = tabulate(rows, ["", model, truth], "simple", disable_numparse=True)
    return f"{table}\n\n{fill(note, WIDTH)}"


def _described(decoding: Mapping[str, Any]) -> str:
    """A decoding in few characters: "top-p 0.9", "T = 0.8"."""
    name, *values = decoding.values()
    return f"T = {values[0]:g}" if name == "temperature" else " ".join([name, *(f"{value:g}" for value in values)])


def _cell(table: pd.DataFrame, model: str, measure: str) -> str:
    """Value and interval of a measure of a model."""
    row = table[(table.model == model) & (table.measure == measure)].iloc[0]
    return f"{row.value:.4f} [{row.low:.4f}, {row.high:.4f}]"


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
            "tbat": {"mass_tolerance": 0.001, "per_window": asked.tbat, "approximations": []},
            "forced": {"per_window": asked.forced},
        },
    }
