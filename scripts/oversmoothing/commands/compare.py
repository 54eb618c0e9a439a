"""Compare two results folders: their tables row by row, and the settings in which they differ."""

import argparse
from collections.abc import Sequence

import pandas as pd

from oversmoothing.commands.output import beside, check_output, write_output
from oversmoothing.printable import printable_lines
from oversmoothing.store.layout import csv_text
from oversmoothing.tables.compare import compare, markdown, settings_differences


def parser() -> argparse.ArgumentParser:
    """Parser of the command's arguments."""
    example = "example: oversmoothing compare results results/mine --table oversmoothing"
    command = argparse.ArgumentParser(prog="oversmoothing compare", description=__doc__, epilog=example)
    command.add_argument("a", help="a results folder")
    command.add_argument("b", help="another one")
    which = "a table; may be repeated (default: all)"
    command.add_argument("--table", action="append", default=[], metavar="NAME", help=which)
    command.add_argument("--csv", metavar="FILE", help="also write the comparison as tidy CSV")
    return command


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    options = parser().parse_args(arguments)
    check_output("--csv", options.csv, lambda text: text.startswith("table,"))
    compared = compare(options.a, options.b, options.table)
    text = markdown(compared, settings_differences(options.a, options.b), options.a, options.b)
    with beside(options.csv):
        print(printable_lines(text), flush=True)
    if options.csv:
        write_output("--csv", options.csv, csv_text(pd.concat(compared, names=["table"]).reset_index("table")))
    return 0
