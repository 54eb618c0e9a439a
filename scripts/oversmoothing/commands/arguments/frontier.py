"""Compare decoding methods over all their settings: what they keep of the truth's nucleus for the same leak."""

import argparse
from collections.abc import Sequence
from functools import partial

from oversmoothing.commands.arguments.parser import Parser
from oversmoothing.commands.arguments.two_models import add_arguments, check
from oversmoothing.commands.output import check_output
from oversmoothing.jobs import UserError

NAME = "frontier"
HOTTEST = 100  # as the config allows
BEGINS = "table,model,"  # the CSV


def parser() -> Parser:
    """Parser of the command's arguments."""
    command = Parser(prog=f"oversmoothing {NAME}", description=__doc__)
    add_arguments(command)
    what = "among them 1 (default: 1 1.5)"
    bounded = partial(command.number, "--temperatures", low=0, above=True, high=HOTTEST)
    bounded(type=float, nargs="+", default=[1.0, 1.5], metavar="T", help=what)
    scored = "positions of each passage at which cuts are measured (default: 16)"
    command.number("--positions", low=1, default=16, help=scored)
    command.add_argument("--csv", metavar="FILE", help="also write the table as CSV, a row per number")
    return command


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments; a `UserError` names one that cannot be, as far as is known without the models."""
    asked = parser().parse_args(arguments)
    asked.temperatures = list(dict.fromkeys(asked.temperatures))
    if 1 not in asked.temperatures:
        raise UserError("--temperatures: add 1, at which the leak of the model as it is sets the scale")
    check_output("--csv", asked.csv, lambda text: text.startswith(BEGINS))
    check(asked)
    return asked
