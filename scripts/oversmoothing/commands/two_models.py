"""Two models of one tokenizer over a text: what their commands share, from the arguments to the run."""

import argparse
import sys
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from oversmoothing.commands.relay import relay
from oversmoothing.commands.study import SNAKEFILE
from oversmoothing.hub.manifest import listed_folder
from oversmoothing.hub.names import STUDIED, as_folder, asset_name, is_studied, short_name
from oversmoothing.jobs import UserError

FIXED = Path("config/compare_models.yaml")  # what the config says whatever is asked
ASSETS = "assets"  # folder of what is fetched from the hub


class Pair(NamedTuple):
    """Names of two models in tables, the folder of results, the config of their comparison, and the model's cap."""

    model: str
    truth: str
    results: Path
    config: dict[str, Any]
    cap: float | None  # c of logits c tanh(z / c)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments that all commands of two models take."""
    number = partial(command.add_argument, type=int, metavar="N")
    what = "a causal language model: a folder in the Hugging Face format, or a name on the hub (owner/name)"
    command.add_argument("model", help=what)
    command.add_argument("truth", help="the model that it is measured against, with the same tokenizer")
    text = "text to measure on: .txt, .md, .jsonl, ..."
    command.add_argument("--text", type=Path, required=True, metavar="FILE", help=text)
    number("--windows", default=100, help="passages of the text (default: 100)")
    number("--prompt", default=64, help="tokens of each before the first scored one")
    number("--scored", default=64, help="scored tokens of each (default: 64)")
    command.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    command.add_argument("--precision", choices=["auto", "bf16", "float32"], default="auto", help="of the models")
    number("--cores", default=2)
    command.add_argument("--results", type=Path, metavar="FOLDER", help="default: results/MODEL-beside-TRUTH")


def run(
    asked: argparse.Namespace,
    name: str,
    more: Mapping[str, Any],
    report: str | None = None,
    of_linear: Collection[str] = (),
) -> tuple[int, Pair | None]:
    """Check both models, write the config and run the workflow; return the exit status, and the pair if it is 0.

    `name` is that of the command, `more` what its config says beyond `study`, `report` the file in the results that
    Snakemake's report is written to, and `of_linear` the tables that are not made of a model whose logits are capped.
    """
    if not SNAKEFILE.is_file():
        raise UserError(f"no {SNAKEFILE} in {Path.cwd()}; run `oversmoothing {name}` in the folder of the project")
    if not asked.text.is_file():
        raise UserError(f"--text {asked.text}: no such file")
    model, truth = names(asked.model, asked.truth)
    both = asked.model, asked.truth
    for given in both:
        refuse_studied(given)
    cap, fetched = None, all(map(as_folder, both))
    if fetched:
        folders = {path: find_folder(path) for path in both}
        cap = check_models(folders, asked.truth, asked.prompt + asked.scored)[asked.model]
    results = asked.results or Path("results") / f"{model}-beside-{truth}"
    path = results / "config.yaml"
    results.mkdir(parents=True, exist_ok=True)
    config = _write(path, {**study(asked, model, truth, results), **more}, cap, of_linear)
    print(f"config: {path}", flush=True)
    common = [sys.executable, "-m", "snakemake", "--cores", str(asked.cores), "--configfile", str(path), "--quiet"]
    if code := relay([*common, "host", "rules", "progress", "--", "assets"]):
        return code, None
    if not fetched:
        folders = {path: find_folder(path) for path in both}
        cap = check_models(folders, asked.truth, asked.prompt + asked.scored)[asked.model]
        config = _write(path, config, cap, of_linear)
    if code := relay([*common, "host", "progress"]):
        return code, None
    if report and (code := relay([*common, "all", "--report", str(results / report)])):
        return code, None
    return 0, Pair(model, truth, results, config, cap)


def _write(path: Path, config: Mapping[str, Any], cap: float | None, of_linear: Collection[str]) -> dict[str, Any]:
    """Write a config and return it; of a model whose logits are capped without what needs linear ones."""
    written = {**config}
    if cap is not None:
        written["family"] = [{**member, "capped": True} for member in config["family"]]
        written["wanted"] = [table for table in config["wanted"] if table not in of_linear]
        written["frontier"] = {**config.get("frontier", {}), "deltas": []}
    path.write_text(yaml.safe_dump(written, sort_keys=False), encoding="utf-8")
    return written


def names(model: str, truth: str) -> tuple[str, str]:
    """Names of both models in tables: the last part of what the user wrote, which must differ."""
    short = tuple("".join(c if c.isalnum() or c in "-_." else "-" for c in short_name(path)) for path in (model, truth))
    return (short[0], short[1]) if short[0] != short[1] else (f"{short[0]}-model", f"{short[1]}-truth")


def find_folder(path: str) -> Path:
    """Return the folder of a model that the user wrote; one on the hub must be listed among the assets."""
    return as_folder(path) or listed_folder(Path(ASSETS) / f"{asset_name(path, 'main')}.json")


def refuse_studied(path: str) -> None:
    """Raise a `UserError` if the user wrote the folder of a model that a study trained."""
    folder = as_folder(path)
    if folder and is_studied(folder):
        raise UserError(
            f"{path}: a model that a study trained, which reads bytes; `head` and `size` measure it, and a config "
            f"compares it, as `family: [{{name: mine, path: {folder / STUDIED}}}]`"
        )


def check_models(folders: Mapping[str, Path], truth: str, length: int) -> dict[str, float | None]:
    """Check that models, by what the user wrote, can be compared on passages of `length` tokens of the truth's.

    Returned is the cap of the logits of each, None for one that has none.
    """
    from oversmoothing.commands.one_head.source import described  # with PyTorch, which takes seconds

    files = described(folders, truth)
    for name, of_model in files.items():
        if of_model.context < length:
            raise UserError(
                f"{name}: it reads at most {of_model.context} tokens, and --prompt and --scored are {length}; lower "
                "them"
            )
    return {name: of_model.cap for name, of_model in files.items()}


def study(asked: argparse.Namespace, name: str, truth: str, results: Path) -> dict[str, Any]:
    """Config of the comparison, to be laid over the default; a command adds to it."""
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
        "truths": [{"name": truth, "hub": asked.truth}],
        "samples": {"show": list(range(min(3, asked.windows)))},
    }
