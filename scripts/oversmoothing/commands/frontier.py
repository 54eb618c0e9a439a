"""Compare decoding methods over all their settings, in this process: what they keep of the truth's nucleus."""

import argparse

import pandas as pd

from oversmoothing.commands.output import STDOUT, beside, write_output
from oversmoothing.comparison.frontier import compare_decodings
from oversmoothing.comparison.report import as_csv, laid_out
from oversmoothing.comparison.settings import Settings
from oversmoothing.printable import printable_lines
from oversmoothing.tables.record import chosen

ONE_SETTING = "*"
SINGLE = f"{ONE_SETTING}: a method with one setting; the difference is taken at the leak of that setting."
BOUNDS = {  # rows that are no methods, for they know the truth
    "oracle": "The oracle keeps the truth's nucleus and nothing else.",
    "hindsight": "Hindsight keeps the model's likeliest tokens, at each position the best number of them. It knows the "
    "truth, as the oracle does: no method can.",
}


def main(asked: argparse.Namespace) -> int:
    """Compare what the arguments name (`arguments.frontier`), print it, and return the exit status."""
    settings = Settings.of(vars(asked))
    with beside(STDOUT if asked.csv == STDOUT else None):
        compared = compare_decodings(settings, asked.temperatures, asked.positions)
        print(printable_lines(report(compared.table, *settings.names)), flush=True)
    if asked.csv:
        write_output("--csv", asked.csv, as_csv(compared.table))
    return 0


def report(table: pd.DataFrame, model: str, truth: str) -> str:
    """Lay out the areas of all methods, and what they gain over the reference, for a terminal of 80 columns.

    A method with one setting, whose gain is taken at the leak of that setting, is marked.
    """
    (reference,) = set(table.less.dropna()) - {"temperature first"}
    gains = chosen(table, less=reference, leak=None).set_index(["temperature", "order", "decoding"])
    rows = []
    areas = chosen(table, less=None, leak=None).sort_values("temperature", kind="stable")
    for row in areas.itertuples():
        key = (row.temperature, row.order, row.decoding)
        gained, p, mark = "", "", ""
        if key in gains.index:
            gain = gains.loc[key]
            gained, mark = f"{gain.value:+.4f}", "" if gain.measure == "area" else ONE_SETTING
            if pd.notna(gain.low):  # one passage alone has no interval
                gained += f" [{gain.low:+.4f}, {gain.high:+.4f}]"
                p = f"{gain.p:.3f}"
        rows.append([f"{row.temperature:g}", row.order, f"{row.decoding}{mark}", f"{row.value:.4f}", gained, p])
    note = [
        f"Of {model} against {truth}, {int(table.n.max()):,} positions. Kept (probability, higher is better): the most "
        "of the truth's nucleus that some setting of the method covers for no more than a given leak (TTO), as a mean "
        f"over all leaks from 0 to that of the uncut model at temperature 1. Beyond {reference}: the difference of "
        "these means.",
        *([SINGLE] if (gains.measure != "area").any() else []),
        *(words for name, words in BOUNDS.items() if name in set(areas.decoding)),
        "In brackets 95 % intervals over passages; p adjusted for the number of methods. The truth is a model: a "
        "temperature other than 1 is an error by definition.",
    ]
    return laid_out(rows, ["T", "order", "method", "kept", f"beyond {reference}", "p"], " ".join(note))
