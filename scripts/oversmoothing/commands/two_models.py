"""Two models over a text: what their commands share, from the arguments to the run."""

import argparse
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import yaml
from tabulate import tabulate

from oversmoothing.commands.arguments.parser import Parser
from oversmoothing.commands.arguments.text import check_text
from oversmoothing.commands.options import TEXT, add_options
from oversmoothing.commands.relay import relay
from oversmoothing.commands.study import OWN, check_project, unused_variables
from oversmoothing.data.files import READ, read_beginning
from oversmoothing.data.globs import as_pattern
from oversmoothing.data.tokens.special import tell_special_names
from oversmoothing.data.tokens.vocabulary import AUTO, FAST, load_tokenizer
from oversmoothing.hub.cache import check_links
from oversmoothing.hub.manifest import listed_folder
from oversmoothing.hub.names import STUDIED, as_folder, as_gguf, asset_name, is_studied, short_name, source_of
from oversmoothing.jobs import UserError
from oversmoothing.printable import printable

CONFIGS = {"compare-models": "config.yaml", "frontier": "config-frontier.yaml"}  # in one folder, of the same results
FIXED = Path("config/compare_models.yaml")  # what the config says whatever is asked
PRECISION = "of the models; bf16 adds noise to a small KL, auto takes it where it is faster"
PARTS = ("model", "truth", "text", "column", "text to split on")  # of what a comparison is
MADE = ("corpus", "windows.parquet", "models", "tables")  # by any run, in its folder of results
ASSETS = "assets"  # folder of what is fetched from the hub
# Of bytes: tables that need a head, hidden states, samples or tokens.
LEFT_OUT = ("forced", "tokens", "tbat", "argmaxability", "effective_rank", "samples")
TOKENS_EACH, BYTES_EACH = 64, 256  # of a prompt, and of what is scored after it
WHOLE = {"train": 0, "validation": 0, "evaluation": 1}  # shares of the text, of which nothing is trained
WIDTH = 80  # of a terminal
FURTHER = (
    "All that is printed above is complete. The jobs that follow make the other tables, the figures and {}. "
    "Ctrl-C may end them: the same command goes on from there."
)


class Pair(NamedTuple):
    """Two models that are compared."""

    model: str  # names in tables
    truth: str
    folders: Sequence[Path]  # empty until they are fetched
    results: Path
    config: dict[str, Any]
    cap: float | None  # c of the model's logits c tanh(z / c)
    snakemake: list[str]  # the command that runs the config, without what it makes
    why: str | None = None  # it is bytes that are compared


def add_arguments(command: Parser, over_bytes: bool = False) -> None:
    """Add the arguments that all commands of two models take, and those of a command that can compare bytes."""
    what = "a causal language model: a folder (Hugging Face format), a .gguf file or a name on the hub (owner/name)"
    command.add_argument("model", help=what)
    same = "" if over_bytes else ", with the same tokenizer"
    command.add_argument("truth", help=f"the model that it is measured against{same}")
    command.add_argument("--text", type=Path, required=True, metavar="FILE", help=TEXT)
    add_options(command, "float32", PRECISION)
    command.number("--windows", low=1, default=100, help="passages of the text (default: 100)")
    length = f"(default: {TOKENS_EACH}" + (f"; {BYTES_EACH} bytes)" if over_bytes else ")")
    command.number("--prompt", low=1, help=f"tokens of each before the first scored one {length}")
    command.number("--scored", low=1, help=f"scored tokens of each {length}")
    if over_bytes:
        what = "compare distributions of bytes, as where the tokenizers differ; lengths are then in bytes"
        command.add_argument("--bytes", action="store_true", help=what)
    command.number("--cores", low=1, default=2, help="processors of this machine (default: %(default)s)")
    what = "default: results/MODEL-beside-TRUTH-on-TEXT"
    command.add_argument("--results", type=Path, metavar="FOLDER", help=what)


def check(asked: argparse.Namespace, name: str) -> None:
    """Raise a `UserError` for arguments of the command `name` that cannot be, as far as is known without the models."""
    check_project(name)
    check_text(asked.text, asked.column)
    for given in (asked.model, asked.truth):
        if (folder := as_folder(given)) and is_studied(folder):
            raise UserError(
                f"{given}: a model that a study trained, which reads bytes; `head` and `size` measure it, and a config "
                f"compares it, as `family: [{{name: mine, path: {folder / STUDIED}}}]`"
            )
    check_results(asked)


def start(
    asked: argparse.Namespace, name: str, more: Mapping[str, Any], of_linear: Collection[str] = ()
) -> tuple[int, Pair | None]:
    """Check both models, write the config and draw the windows; return the exit status, and the pair if it is 0.

    `name` is that of the command, `more` what its config says beyond `study`, and `of_linear` tables that are not made
    of a model whose logits are capped. A command with ``--bytes`` compares bytes where the tokenizers differ.
    """
    model, truth = names(asked.model, asked.truth)
    both, results = (asked.model, asked.truth), results_of(asked)
    path, windows = results / CONFIGS[name], str(results / "windows.parquet")
    quiet = [] if os.isatty(2) else ["--quiet", "host", "rules", "progress"]  # a terminal gets bars
    common = [sys.executable, "-m", "snakemake", *OWN, *quiet, "--cores", str(asked.cores), "--configfile", str(path)]
    if unused := unused_variables():
        print(f"{', '.join(unused)} in the environment: not used; the comparison runs on this machine", file=sys.stderr)

    def paired(there: bool) -> Pair:
        """Write the config of two models, whose files are checked before if they are there."""
        folders = [find_folder(given) for given in both] if there else []
        cap, why = examine(asked, dict(zip(both, folders, strict=True))) if there else (None, None)
        if there:
            check_passages(asked, folders, why is not None)
        results.mkdir(parents=True, exist_ok=True)
        config = write_config(path, {**study(asked, model, truth, results, why), **more}, cap, of_linear)
        return Pair(model, truth, folders, results, config, cap, common, why)

    local = all(as_folder(given) and not as_gguf(given) for given in both)
    pair = paired(local)
    print(f"config: {printable(str(path))}", flush=True)
    if code := relay([*common, "--", "assets", *([windows] if local else [])]):
        return code, None
    if not local:
        pair = paired(True)
        if code := relay([*common, "--", windows]):
            return code, None
    return 0, pair


def make(pair: Pair, tables: Collection[str]) -> int:
    """Make those of some tables that the config wants; return the exit status."""
    wanted = [str(pair.results / f"tables/{table}.csv") for table in tables if table in pair.config["wanted"]]
    return relay([*pair.snakemake, "--", *wanted])


def finish(pair: Pair, report: str) -> str:
    """Make what else the config wants, and Snakemake's report; return the line that says where all is."""
    print(f"\n{fill(FURTHER.format(report), WIDTH)}", flush=True)
    made = not relay([*pair.snakemake, "--", "all"])  # named, so that it ends without a table
    results = printable(str(pair.results))
    where = f"tables and figures: {results}/tables, {results}/figures"
    if made:
        made = not relay([*pair.snakemake, "--quiet", "all", "--report", str(pair.results / report)])
        where += f"; all on one page: {results}/{report}" if made else ""
    return where + ("" if made else "; some could not be made, and the log says why; what is printed above is complete")


def laid_out(rows: Sequence[Sequence[str]], heads: Sequence[str], note: str) -> str:
    """Lay out a table above a note, for a terminal of 80 columns."""
    return f"{tabulate(rows, heads, 'simple', disable_numparse=True)}\n\n{fill(note, WIDTH)}"


def examine(asked: argparse.Namespace, folders: Mapping[str, Path]) -> tuple[float | None, str | None]:
    """Check that two models can be compared; return the cap of the model's logits, and why bytes are compared if so."""
    from oversmoothing.commands import over_bytes  # with PyTorch, which takes seconds
    from oversmoothing.models.source import described

    why, of_bytes = None, ""
    if "bytes" in asked and asked.bytes:
        why = "as --bytes asks"
    elif "bytes" in asked and (difference := over_bytes.differ(folders[asked.truth], folders[asked.model])):
        why = f"because the tokenizers differ ({difference})"
    if why:
        files, of_bytes = over_bytes.described(folders, asked.bos), " bytes, each of which may be a token"
    else:
        files = described(folders, asked.truth, asked.bos)
    length = sum(lengths(asked, why is not None))
    for name, of_model in files.items():
        if of_model.context < length:
            raise UserError(
                f"{name}: it reads at most {of_model.context} tokens, and --prompt and --scored are "
                f"{length}{of_bytes}; lower them"
            )
    return None if why else files[asked.model].cap, why


def check_passages(asked: argparse.Namespace, folders: Sequence[Path], over_bytes: bool) -> None:
    """Raise a `UserError` if a text is too short for the passages; over bytes, tell of names of special tokens in it.

    Over tokens, the job that draws the windows tells of these.
    """
    each = 2 * sum(lengths(asked, over_bytes))  # bytes of text, as `plan.corpus.bytes_needed` has it
    needed = asked.windows * each
    text = read_beginning(asked.text, asked.column, max(needed, READ), asked.split_on).encode()
    if len(text) < needed:
        most = f"lower --windows {asked.windows} to {len(text) // each}"
        remedy = most if len(text) >= each else "lower --prompt and --scored"
        raise UserError(
            f"--text {asked.text}: {asked.windows:,} passages of {each // 2:,} need {needed:,} bytes, and it has "
            f"{len(text):,}: give a longer text, or {remedy}"
        )
    if over_bytes:
        tell_special_names([load_tokenizer(folder / FAST) for folder in folders], text, str(asked.text))


def lengths(asked: argparse.Namespace, over_bytes: bool = False) -> tuple[int, int]:
    """Length of a prompt and of what is scored after it, in tokens or in bytes."""
    usual = BYTES_EACH if over_bytes else TOKENS_EACH
    return usual if asked.prompt is None else asked.prompt, usual if asked.scored is None else asked.scored


def results_of(asked: argparse.Namespace) -> Path:
    """Return the folder of the results: the one that ``--results`` names, or one of both models and the text."""
    if asked.results:
        return Path(asked.results)
    model, truth = names(asked.model, asked.truth)
    text = _as_name(Path(asked.text).stem)
    return Path("results") / f"{model}-beside-{truth}-on-{text}{'-over-bytes' * getattr(asked, 'bytes', False)}"


def check_results(asked: argparse.Namespace) -> None:
    """Raise a `UserError` if the folder of the results holds what a run would replace: any but the same comparison."""
    results, wanted = results_of(asked), _compared(study(asked, "", "", results_of(asked)))
    free = next(folder for n in count(2) if not (folder := Path(f"{results}-{n}")).exists())
    remedy = f"which this would replace; name another folder, such as --results {free}"
    configs = [path for name in CONFIGS.values() if (path := results / name).exists()]
    if not configs and any((results / made).exists() for made in MADE):
        raise UserError(f"{results}: it holds results of another command, {remedy}")
    for path in configs:
        try:
            held = yaml.safe_load(path.read_text(encoding="utf-8"))
            there = _compared(held) if held["results"] == str(results) else None
        except (OSError, ValueError, yaml.YAMLError, LookupError, TypeError, AttributeError):
            there = None
        if there is None:
            raise UserError(f"{path}: not a config of this command, {remedy}")
        for part, value in there.items():
            if value != wanted[part]:
                raise UserError(f"{results}: a comparison whose {part} is {value}, and not {wanted[part]}, {remedy}")


def _compared(config: Mapping[str, Any]) -> dict[str, str]:
    """Return what a config compares, and on what."""
    model, truth = (config[part][0]["hub"] for part in ("family", "truths"))
    of_models = (str(folder.resolve()) if (folder := as_folder(name)) else name for name in (model, truth))
    texts = " ".join(os.path.abspath(path) for path in config["corpus"]["paths"])  # noqa: PTH100 (globs)
    split_on = (config["corpus"]["cut"] or {}).get("text", "none")
    return dict(zip(PARTS, (*of_models, texts, config["corpus"]["column"], split_on), strict=True))


def write_config(
    path: Path, config: Mapping[str, Any], cap: float | None = None, of_linear: Collection[str] = ()
) -> dict[str, Any]:
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
    short = tuple(_as_name(short_name(path)) for path in (model, truth))
    return (short[0], short[1]) if short[0] != short[1] else (f"{short[0]}-model", f"{short[1]}-truth")


def _as_name(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in text)


def find_folder(path: str) -> Path:
    """Return the folder of a model that the user wrote; one on the hub or in GGUF must be listed among the assets."""
    if not as_gguf(path) and (folder := as_folder(path)):
        check_links(folder)
        return folder
    return listed_folder(Path(ASSETS) / f"{asset_name(path, 'main')}.json", source_of(path, "main"))


def study(
    asked: argparse.Namespace, name: str, truth: str, results: Path, why_bytes: str | None = None
) -> dict[str, Any]:
    """Config of the comparison, over bytes if there is a reason, to be laid over the default; a command adds to it."""
    fixed = yaml.safe_load(FIXED.read_text(encoding="utf-8"))
    prompt, scored = lengths(asked, why_bytes is not None)
    bos = {} if asked.bos == AUTO else {"bos": asked.bos}
    config: dict[str, Any] = {
        **fixed,
        "results": str(results),
        "assets": ASSETS,
        "device": asked.device,
        "corpus": {**fixed["corpus"], "paths": [as_pattern(asked.text)], "column": asked.column, "splits": WHOLE},
        "tokens": {"tokenizer": asked.truth},
        "windows": {"count": asked.windows, "prompt": prompt, "scored": scored},
        "inference": {"precision": asked.precision},
        "family": [{"name": name, "hub": asked.model, **bos}],
        "truths": [{"name": truth, "hub": asked.truth, **bos}],
        "samples": {"show": list(range(min(3, asked.windows)))},
    }
    if asked.split_on:
        config["corpus"]["cut"] = {"text": asked.split_on}
    if why_bytes is not None:  # both models are byte views
        view = {"layout": "tokens", "context": 0}
        config |= {part: [{**entry, **view} for entry in config[part]] for part in ("family", "truths")}
        config |= {"tokens": "bytes", "wanted": [*(each for each in config["wanted"] if each not in LEFT_OUT), "bytes"]}
        config["language_model"] = {"block": prompt + scored}  # checked, though no sample is judged
    return config
