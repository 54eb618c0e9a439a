"""Measure how much a language model oversmooths beside another one, in this process: print it, and write it."""

import argparse
import sys

from oversmoothing.commands.output import STDOUT, beside, write_output
from oversmoothing.comparison.compare import run
from oversmoothing.comparison.report import as_csv, as_json, report
from oversmoothing.comparison.settings import Settings
from oversmoothing.printable import printable_lines
from oversmoothing.store.atomic import json_text


def main(asked: argparse.Namespace) -> int:
    """Compare what the arguments name (`arguments.compare_models`), print it, and return the exit status."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    settings = Settings.of(vars(asked))
    to_stdout = STDOUT if STDOUT in (asked.json, asked.csv) else None
    with beside(to_stdout):
        compared = run(settings)
        print(printable_lines(report(compared)), flush=True)
    if asked.json:
        write_output("--json", asked.json, json_text(f"--json {asked.json}", as_json(compared)))
    if asked.csv:
        write_output("--csv", asked.csv, as_csv(compared.table))
    return 0
