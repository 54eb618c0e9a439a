"""Measure the LM head of one model: spectrum, unargmaxable tokens, and on a text loss, gradient, TBAT and forced KL."""

import argparse
from collections.abc import Sequence

from oversmoothing.commands.arguments.parser import Parser
from oversmoothing.commands.arguments.text import check_text
from oversmoothing.commands.one_model import TEXT, add_options, check_json
from oversmoothing.jobs import UserError
from oversmoothing.numerics.log_ratio import DELTA, LARGEST_DELTA

EXAMPLE = "example: oversmoothing head EleutherAI/pythia-70m --text book.txt --json head.json"


def parser() -> Parser:
    """Parser of the command's arguments."""
    command = Parser(prog="oversmoothing head", description=__doc__, epilog=EXAMPLE)
    what = (
        "a folder in the Hugging Face format, a .gguf file, a name on the hub, which is fetched once, or "
        "RESULTS/models/NAME of a study over bytes"
    )
    command.add_argument("model", help=what)
    command.add_argument("--text", metavar="FILE", help=f"{TEXT}; none: the head alone")
    command.number("--positions", low=1, default=64, help="tokens of the text to predict (default: %(default)s)")
    what = "how many of them get a TBAT (default: %(default)s; seconds each in a large head; 0: none)"
    command.number("--tbat-positions", "--tbat", low=0, default=2, help=what)
    what = "a model with the same tokenizer: how far MODEL is from it, and how much of that any model with this head "
    command.add_argument("--truth", metavar="TRUTH", help=f"{what}would be")
    what = "how many of the positions are compared with TRUTH (default: %(default)s; seconds each in a large head)"
    command.number("--forced-positions", low=1, default=16, help=what)
    what = "of BAT, in nats (default: %(default).4g)"
    command.number("--delta", type=float, low=0, high=LARGEST_DELTA, default=DELTA, metavar="DELTA", help=what)
    what = "probability that BAT may leave undecided (default: %(default)s)"
    command.number("--mass-tolerance", type=float, low=0, high=1, default=1e-2, metavar="P", help=what)
    what = "skip the tokens and sets that can never be the most probable, which can take minutes"
    command.add_argument("--no-unargmaxable", action="store_true", help=what)
    add_options(command)
    command.json("also write everything as JSON")
    return command


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments; a `UserError` names one that cannot be, as far as is known without the model."""
    options = parser().parse_args(arguments)
    if options.truth and not options.text:
        raise UserError(f"--truth {options.truth}: both models are run on a text; name one with --text")
    if options.text:
        check_text(options.text, options.column)
    check_json(options.json, "source", "model", "spectrum")
    return options
