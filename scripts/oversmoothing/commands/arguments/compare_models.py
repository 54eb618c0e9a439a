"""Measure how much a language model oversmooths beside another one: losses, scores, what its head forces, drafts."""

import argparse
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from oversmoothing.commands.arguments.parser import Parser
from oversmoothing.commands.arguments.two_models import add_arguments, check
from oversmoothing.commands.output import check_output
from oversmoothing.comparison.settings import FEW, LARGE, PAGE_MARK, Settings
from oversmoothing.jobs import UserError
from oversmoothing.scores.catalogue.decoders import method

NAME = "compare-models"
PARTS = {"model", "truth", "tables", "noise"}  # of the JSON
BEGINS = "table,model,"  # the CSV
EXAMPLE = "example: oversmoothing compare-models model-Q4_0.gguf owner/name --text book.txt --html compared.html"


def parser() -> Parser:
    """Parser of the command's arguments."""
    command = Parser(prog=f"oversmoothing {NAME}", description=__doc__, epilog=EXAMPLE)
    add_arguments(command, over_bytes=True)
    few = f"(default: 1; over more than {LARGE:,} tokens in {FEW} of the passages)"
    command.number("--tbat", low=1, help=f"positions of each passage at which TBAT is computed {few}")
    what = "positions of each passage at which what the head forces is computed (default: %(default)s)"
    command.number("--forced", low=1, default=Settings.forced, help=what)
    for name, letter, what in (
        ("temperature", "T", "one of the decodings; for acceptance of both models"),
        ("top-p", "P", "another one"),
    ):
        (value,) = method(name).parameters
        bounded = partial(command.number, f"--{name}", low=value.low, high=value.high, above=value.above)
        bounded(type=float, default=value.default, metavar=letter, help=f"{what} (default: %(default)s)")
    command.json("also write the printed tables as JSON")
    command.add_argument("--csv", metavar="FILE", help="also write them as CSV, a row per number")
    what = "also write a page: the tables, the distribution of KL, and the text, each token shaded by its KL"
    command.add_argument("--html", metavar="FILE", help=what)
    what = "keep passages, predictions and scores of both models in a new folder, with a config of the workflow"
    command.add_argument("--keep", metavar="FOLDER", help=what)
    return command


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments; a `UserError` names one that cannot be, as far as is known without the models."""
    asked = parser().parse_args(arguments)
    check_output("--json", asked.json, lambda text: set(json.loads(text)) >= PARTS)
    check_output("--csv", asked.csv, lambda text: text.startswith(BEGINS))
    check_output("--html", asked.html, lambda text: PAGE_MARK in text)
    if asked.keep and Path(asked.keep).exists() and (not Path(asked.keep).is_dir() or any(Path(asked.keep).iterdir())):
        raise UserError(f"--keep {asked.keep}: it is there and not empty; name a new folder")
    check(asked)
    return asked
