"""Compare decoding methods over all their settings: what they keep of the truth's nucleus for the same leak."""

import argparse

import pandas as pd

from oversmoothing.commands.arguments.frontier import NAME
from oversmoothing.commands.two_models import laid_out, make, start
from oversmoothing.printable import printable
from oversmoothing.tables.record import chosen, read_record

ONE_SETTING = "*"
SINGLE = f"{ONE_SETTING}: a method with one setting; the difference is taken at the leak of that setting."
BOUNDS = {  # rows that are no methods, for they know the truth
    "oracle": "The oracle keeps the truth's nucleus and nothing else.",
    "hindsight": "Hindsight keeps the model's likeliest tokens, at each position the best number of them. It knows the "
    "truth, as the oracle does: no method can.",
}


def main(asked: argparse.Namespace) -> int:
    """Compare what the arguments name (`arguments.frontier`), print it, and return the exit status."""
    settings = {"temperatures": asked.temperatures, "per_window": asked.positions, "deltas": []}  # BAT takes long
    code, pair = start(asked, NAME, {"wanted": ["frontier"], "frontier": settings})
    if pair is None or (code := make(pair, ["frontier"])):
        return code
    table = read_record(pair.results / "tables/frontier.csv")
    print(report(table, pair.model, pair.truth))
    results = printable(str(pair.results))
    figures = ", ".join(f"{results}/figures/frontier_{t:g}.png" for t in asked.temperatures)
    print(f"\ntable: {results}/tables/frontier.md; figures: {figures}")
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
