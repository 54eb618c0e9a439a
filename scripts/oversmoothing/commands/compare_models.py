"""Measure how much a language model oversmooths beside another: write a config, run the workflow, print the table."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from oversmoothing.commands.study import SNAKEFILE
from oversmoothing.jobs import UserError

# Tables and figures of models that were not trained here; the others need a training text, or a history of losses.
WANTED = [
    "oversmoothing", "losses", "tokens", "tbat", "decodings", "entropy_difference", "argmaxability", "effective_rank",
    "samples", "next_byte", "next_byte_typical", "oversmoothing_illustrated",
]  # fmt: skip
SPLITS = {"train": 0.05, "validation": 0.05, "evaluation": 0.9}  # nothing is trained
TABLE = "oversmoothing.md"


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
    results = asked.results or Path("results") / f"{name}-beside-{truth}"
    path = results / "config.yaml"
    results.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(study(asked, name, truth, results), sort_keys=False), encoding="utf-8")
    print(f"config: {path}", flush=True)
    common = [sys.executable, "-m", "snakemake", "--cores", str(asked.cores), "--configfile", str(path)]
    report = results / "report.html"
    for more in (["assets", "--quiet", "rules", "progress"], [], ["--report", str(report), "--quiet", "rules"]):
        if code := subprocess.run([*common[:3], *more, *common[3:]]).returncode:
            return code
    print((results / "tables" / TABLE).read_text(encoding="utf-8"))
    print(f"tables and figures: {results}/tables, {results}/figures; all on one page: {report}")
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
    found.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    found.add_argument("--precision", choices=["auto", "bf16", "float32"], default="auto", help="of the models")
    found.add_argument("--cores", type=int, default=2, metavar="N")
    found.add_argument("--results", type=Path, metavar="FOLDER", help="default: results/MODEL-beside-TRUTH")
    return found


def names(model: str, truth: str) -> tuple[str, str]:
    """Names of both models in tables: the last part of what the user wrote, which must differ."""
    short = tuple("".join(c if c.isalnum() or c in "-_." else "-" for c in Path(own).name) for own in (model, truth))
    return (short[0], short[1]) if short[0] != short[1] else (f"{short[0]}-model", f"{short[1]}-truth")


def study(asked: argparse.Namespace, name: str, truth: str, results: Path) -> dict[str, Any]:
    """Config of the comparison, to be laid over the default."""
    return {
        "results": str(results),
        "wanted": WANTED,
        "device": asked.device,
        "corpus": {
            "source": "files",
            "paths": [str(asked.text)],
            "cut": "paragraphs",
            "overlap_words": None,
            "splits": SPLITS,
        },
        "tokens": {"tokenizer": asked.truth},
        "windows": {"count": asked.windows, "prompt": asked.prompt, "scored": asked.scored},
        "inference": {"precision": asked.precision},
        "family": [{"name": name, "hub": asked.model}],
        "svd_ranks": [],
        "retrained": {"ranks": []},
        "truths": [{"name": truth, "hub": asked.truth}],
        "metrics": {"tbat": {"mass_tolerance": 0.001, "per_window": asked.tbat, "approximations": []}},
        "samples": {"show": list(range(min(3, asked.windows)))},
        "showcase": [{"name": "typical", "prompt": None}],
    }
