"""Measure how much a language model oversmooths beside another: write a config, run the workflow, print the table."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd
import yaml
from tabulate import tabulate

from oversmoothing.commands.relay import relay
from oversmoothing.commands.study import SNAKEFILE
from oversmoothing.hub.names import as_folder, asset_name
from oversmoothing.jobs import UserError
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.tables.page import labelled
from oversmoothing.tables.record import read_record

FIXED = Path("config/compare_models.yaml")  # what the config says whatever is asked
PRINTED = ("losses", "oversmoothing", "forced", "acceptance")
WIDTH = 80  # of a terminal
ASSETS = "assets"  # folder of what is fetched from the hub


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    asked = parser().parse_args(arguments)
    if not SNAKEFILE.is_file():
        raise UserError(
            f"no {SNAKEFILE} in {Path.cwd()}; run `oversmoothing compare-models` in the folder of the project"
        )
    if not asked.text.is_file():
        raise UserError(f"--text {asked.text}: no such file")
    name, truth = names(asked.model, asked.truth)
    both = asked.model, asked.truth
    folders = {model: as_folder(model) or Path(ASSETS) / asset_name(model, "main") for model in both}
    fetched = all(map(as_folder, folders))
    if fetched:
        check_models(folders, asked.truth, asked.prompt + asked.scored)
    results = asked.results or Path("results") / f"{name}-beside-{truth}"
    path = results / "config.yaml"
    results.mkdir(parents=True, exist_ok=True)
    config = study(asked, name, truth, results)
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    print(f"config: {path}", flush=True)
    common = [sys.executable, "-m", "snakemake", "--cores", str(asked.cores), "--configfile", str(path), "--quiet"]
    if code := relay([*common, "host", "rules", "progress", "--", "assets"]):
        return code
    if not fetched:
        check_models(folders, asked.truth, asked.prompt + asked.scored)
    if code := relay([*common, "host", "progress"]):
        return code
    page = results / "report.html"
    if code := relay([*common, "all", "--report", str(page)]):
        return code
    tables = {table: read_record(results / f"tables/{table}.csv") for table in PRINTED}
    print(report(tables, config["decodings"], name, truth))
    print(f"\ntables and figures: {results}/tables, {results}/figures; all on one page: {page}")
    return 0


def parser() -> argparse.ArgumentParser:
    """Parser of the command's arguments."""
    command = argparse.ArgumentParser(prog="oversmoothing compare-models", description=__doc__)
    number = partial(command.add_argument, type=int, metavar="N")
    what = "a causal language model: a folder in the Hugging Face format, or a name on the hub (owner/name)"
    command.add_argument("model", help=what)
    command.add_argument("truth", help="the model that it is measured against, with the same tokenizer")
    text = "text to measure on: .txt, .md, .jsonl, ..."
    command.add_argument("--text", type=Path, required=True, metavar="FILE", help=text)
    number("--windows", default=100, help="passages of the text (default: 100)")
    number("--prompt", default=64, help="tokens of each before the first scored one")
    number("--scored", default=64, help="scored tokens of each (default: 64)")
    at = "positions of each passage at which {} is computed (default: 1)"
    number("--tbat", default=1, help=at.format("TBAT"))
    number("--forced", default=1, help=at.format("what the model's head forces"))
    accepted = "one of the decodings; for acceptance of both models (default: 0.8)"
    command.add_argument("--temperature", type=float, default=0.8, metavar="T", help=accepted)
    command.add_argument("--top-p", type=float, default=0.9, metavar="P", help="another one (default: 0.9)")
    command.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    command.add_argument("--precision", choices=["auto", "bf16", "float32"], default="auto", help="of the models")
    number("--cores", default=2)
    command.add_argument("--results", type=Path, metavar="FOLDER", help="default: results/MODEL-beside-TRUTH")
    return command


def names(model: str, truth: str) -> tuple[str, str]:
    """Names of both models in tables: the last part of what the user wrote, which must differ."""
    short = tuple("".join(c if c.isalnum() or c in "-_." else "-" for c in Path(path).name) for path in (model, truth))
    return (short[0], short[1]) if short[0] != short[1] else (f"{short[0]}-model", f"{short[1]}-truth")


def check_models(folders: Mapping[str, Path], truth: str, length: int) -> None:
    """Check that models, by what the user wrote, can be compared on passages of `length` tokens of the truth's."""
    from oversmoothing.commands.one_head.source import contexts  # with PyTorch, which takes seconds

    for name, longest in contexts(folders, truth).items():
        if longest < length:
            raise UserError(
                f"{name}: it reads at most {longest} tokens, and --prompt and --scored are {length}; lower them"
            )


def report(tables: Mapping[str, pd.DataFrame], decodings: Sequence[Mapping[str, Any]], model: str, truth: str) -> str:
    """Lay out the tables `PRINTED` of a model beside its truth, for a terminal of 80 columns."""
    losses, scores, forced, acceptance = (tables[name] for name in PRINTED)
    lines = [
        ("loss, nats per token", "lower", losses, "loss"),
        ("loss, nats per byte", "lower", losses, "loss_per_byte"),
        *((METRICS[name].label, METRICS[name].better, scores, name) for name in scores.measure.unique()),
        ("KL forced by its head", "lower", forced, "forced"),
        ("share of KL forced", "lower", forced, "share"),
    ]
    for decoding in decodings:
        accepted = acceptance[acceptance.decoding == decoding["name"]]
        lines.append((f"acceptance, {_described(decoding)}", "higher", accepted, "acceptance"))
    rows = [
        [labelled(label, better), _cell(values, model, name), _cell(values, truth, name) if values is losses else ""]
        for label, better, values, name in lines
    ]
    tbat = scores[scores.measure == "tbat"].iloc[0]
    at = forced[forced.measure == "forced"].iloc[0]
    width = f", the middle of a bracket that is {tbat.bracket:.2g} wide on average" if pd.notna(tbat.bracket) else ""
    note = (
        f"Means over {int(scores.n.max()):,} positions (TBAT: {int(tbat.n):,}{width}; forced: {int(at.n):,}) "
        f"[95 % interval]. TTO, NSMD, TV and KL are against {truth} and grow with any error, so beside a higher loss "
        "they are no evidence of a softmax bottleneck; TBAT is of the model alone. Forced is what any model with this "
        "head has of KL. Acceptance is the probability that speculative sampling keeps a token that "
        f"{model} drafts for {truth}, both decoded in the same way."
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


def study(asked: argparse.Namespace, name: str, truth: str, results: Path) -> dict[str, Any]:
    """Config of the comparison, to be laid over the default."""
    fixed = yaml.safe_load(FIXED.read_text(encoding="utf-8"))
    return {
        **fixed,
        "results": str(results),
        "assets": ASSETS,
        "device": asked.device,
        "corpus": {**fixed["corpus"], "paths": [str(asked.text)]},
        "tokens": {"tokenizer": asked.truth},
        "windows": {"count": asked.windows, "prompt": asked.prompt, "scored": asked.scored},
        "inference": {"precision": asked.precision},
        "family": [{"name": name, "hub": asked.model}],
        "decodings": [
            {"name": "pure"},
            {"name": "greedy"},
            {"name": "top-k", "k": 5},
            {"name": "top-p", "p": asked.top_p},
            {"name": "temperature", "temperature": asked.temperature},
        ],
        "truths": [{"name": truth, "hub": asked.truth}],
        "metrics": {
            "tbat": {"mass_tolerance": 0.001, "per_window": asked.tbat, "approximations": []},
            "forced": {"per_window": asked.forced},
        },
        "samples": {"show": list(range(min(3, asked.windows)))},
    }
