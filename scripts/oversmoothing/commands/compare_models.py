"""Measure how much a language model oversmooths beside another: write a config, run the workflow, print the table."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd
import yaml
from tabulate import tabulate

from oversmoothing.commands.relay import relay
from oversmoothing.commands.same_tokens import contexts
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
    folders = {own: as_folder(own) or Path(ASSETS) / asset_name(own, "main") for own in (asked.model, asked.truth)}
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
    found = argparse.ArgumentParser(prog="oversmoothing compare-models", description=__doc__)
    what = "a causal language model: a folder in the Hugging Face format, or a name on the hub (owner/name)"
    found.add_argument("model", help=what)
    found.add_argument("truth", help="the model that it is measured against, with the same tokenizer")
    found.add_argument(
        "--text", type=Path, required=True, metavar="FILE", help="text to measure on: .txt, .md, .jsonl, ..."
    )
    found.add_argument("--windows", type=int, default=100, metavar="N", help="passages of the text (default: 100)")
    found.add_argument("--prompt", type=int, default=64, metavar="N", help="tokens of each before the first scored one")
    found.add_argument("--scored", type=int, default=64, metavar="N", help="scored tokens of each (default: 64)")
    found.add_argument(
        "--tbat",
        type=int,
        default=1,
        metavar="N",
        help="positions of each passage at which TBAT is computed (default: 1)",
    )
    found.add_argument(
        "--forced",
        type=int,
        default=1,
        metavar="N",
        help="positions of each passage at which what the model's head forces is computed (default: 1)",
    )
    found.add_argument(
        "--temperature",
        type=float,
        default=0.8,
        metavar="T",
        help="one of the decodings; for acceptance of both models (default: 0.8)",
    )
    found.add_argument("--top-p", type=float, default=0.9, metavar="P", help="another one (default: 0.9)")
    found.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    found.add_argument("--precision", choices=["auto", "bf16", "float32"], default="auto", help="of the models")
    found.add_argument("--cores", type=int, default=2, metavar="N")
    found.add_argument("--results", type=Path, metavar="FOLDER", help="default: results/MODEL-beside-TRUTH")
    return found


def names(model: str, truth: str) -> tuple[str, str]:
    """Names of both models in tables: the last part of what the user wrote, which must differ."""
    short = tuple("".join(c if c.isalnum() or c in "-_." else "-" for c in Path(own).name) for own in (model, truth))
    return (short[0], short[1]) if short[0] != short[1] else (f"{short[0]}-model", f"{short[1]}-truth")


def check_models(folders: Mapping[str, Path], truth: str, length: int) -> None:
    """Check that models, by what the user wrote, can be compared on passages of `length` tokens of the truth's."""
    for name, longest in contexts(folders, truth).items():
        if longest < length:
            raise UserError(
                f"{name}: it reads at most {longest} tokens, and --prompt and --scored are {length}; lower them"
            )


def report(tables: Mapping[str, pd.DataFrame], decodings: Sequence[Mapping[str, Any]], model: str, truth: str) -> str:
    """Lay out the tables `PRINTED` of a model beside its truth, for a terminal of 80 columns."""
    losses, scores, forced, acceptance = (tables[name] for name in PRINTED)
    rows = [
        [labelled(label, "lower"), *(_cell(losses, name, metric) for name in (model, truth))]
        for metric, label in (("loss", "loss, nats per token"), ("loss_per_byte", "loss, nats per byte"))
    ]
    rows += [
        [labelled(METRICS[metric].label, METRICS[metric].better), _cell(scores, model, metric), ""]
        for metric in scores.measure.unique()
    ]
    rows += [
        [labelled(label, "lower"), _cell(forced, model, measure), ""]
        for measure, label in (("forced", "KL forced by its head"), ("share", "share of KL forced"))
    ]
    rows += [
        [
            labelled(f"acceptance, {_described(decoding)}", "higher"),
            _cell(acceptance[acceptance.decoding == decoding["name"]], model, "acceptance"),
            "",
        ]
        for decoding in decodings
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
