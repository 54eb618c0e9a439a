"""Measure how much a language model oversmooths beside another one, in this process: print it, and write it."""

import argparse
import sys
from contextlib import ExitStack

from oversmoothing.commands.output import STDOUT, beside, write_output
from oversmoothing.comparison.compare import Watcher, run
from oversmoothing.comparison.kept import Kept
from oversmoothing.comparison.page import Page
from oversmoothing.comparison.report import as_csv, as_json, report
from oversmoothing.comparison.settings import Settings
from oversmoothing.printable import printable, printable_lines
from oversmoothing.store.atomic import json_text


def main(asked: argparse.Namespace) -> int:
    """Compare what the arguments name (`arguments.compare_models`), print it, and return the exit status."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    page = Page() if asked.html else None
    watchers: list[Watcher] = [page] if page else []
    with beside(STDOUT if STDOUT in (asked.json, asked.csv, asked.html) else None):
        with ExitStack() as folder:
            if asked.keep:
                watchers.append(folder.enter_context(Kept(asked.keep)))
            compared = run(Settings.of(vars(asked)), watchers)
        print(printable_lines(report(compared)), flush=True)
        if asked.keep:
            print(f"\nKept in {printable(asked.keep)}; its config.yaml is one of the workflow, in a `git clone`")
    if asked.json:
        write_output("--json", asked.json, json_text(f"--json {asked.json}", as_json(compared)))
    if asked.csv:
        write_output("--csv", asked.csv, as_csv(compared.table))
    if page:
        write_output("--html", asked.html, page.text(compared))
    return 0
