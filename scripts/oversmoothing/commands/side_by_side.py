"""A model beside its truth in the measures of llama.cpp's ``--kl-divergence``, for a terminal of 80 columns."""

import pandas as pd
from tabulate import tabulate

from oversmoothing.commands.two_models import laid_out
from oversmoothing.tables.page import labelled
from oversmoothing.tables.side_by_side import LABELS, LEVELS, SPREAD, UNITS, named


def report(table: pd.DataFrame, unit: str = "token") -> str:
    """Lay out the table ``side_by_side`` of one model and its truth; `unit` is what a position is."""
    means = table[table["quantile"].isna()].set_index("measure")
    above = [
        [labelled(LABELS[name].format(unit=unit), str(UNITS[name][1])), cell(means.loc[name])]
        for name in LABELS
        if name != "dp_rms"
    ]
    rows = [["mean", *(cell(means.loc[name]) for name in SPREAD)], ["RMS", "", cell(means.loc["dp_rms"])]]
    for level in LEVELS:
        at = table[table["quantile"] == level].set_index("measure")
        rows.append([named(level), *(cell(at.loc[name]) for name in SPREAD)])
    heads = [labelled(label, str(UNITS[name][1])) for name, label in SPREAD.items()]
    note = (
        f"In the measures of llama.cpp's --kl-divergence, over {int(table.n.max()):,} positions, but with 95 % "
        "intervals over whole passages. Perplexities are the model's over the truth's, paired; KL is not clipped; dp "
        f"is the probability of the {unit} that came next, the model's less the truth's. A quantile that fewer than "
        "five passages decide has no interval."
    )
    return f"{tabulate(above, tablefmt='plain', disable_numparse=True)}\n\n{laid_out(rows, ['', *heads], note)}"


def cell(row: pd.Series) -> str:
    """Value and interval, "0.00123 [0.00101, 0.00145]": three digits, or of ratios and shares four decimals."""
    shown = "{:.4f}" if row.unit in ("ratio", "share") else "{:#.3g}"
    value, *ends = (shown.format(row[name] + 0.0) for name in ("value", "low", "high"))
    return value if pd.isna(row.low) else f"{value} [{', '.join(ends)}]"
