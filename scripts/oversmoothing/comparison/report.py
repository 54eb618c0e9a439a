"""A comparison as text, for a terminal of 80 columns, and as JSON."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import pandas as pd
from tabulate import tabulate

from oversmoothing.comparison.compare import TABLES, Compared
from oversmoothing.comparison.settings import described
from oversmoothing.measures.catalogue import Statistic, measures
from oversmoothing.scores.catalogue.metrics import KL_FLOOR
from oversmoothing.store.layout import csv_text
from oversmoothing.tables.page import labelled
from oversmoothing.tables.record import SCHEMA, chosen
from oversmoothing.tables.side_by_side import SPREAD, UNITS, named

WIDTH = 80  # of a terminal
SIDE = "side_by_side"  # a table
LOSSES = {"token": ("loss", "loss_per_byte"), "byte": ("loss", "bits_per_byte")}
OF_FORCED = ("forced", "share")
OF_HEAD = "; TBAT is of the model alone. Forced is what any model with this head has of KL."
CAPPED = (
    ". TBAT and the part of KL that its head forces are left out, because they need logits that are linear in what "
    "enters the head, and those of {model} are capped at {cap:g}."
)


def report(compared: Compared) -> str:
    """Return all tables of a comparison with their notes."""
    last = " ".join(filter(None, [noise(compared), clipping(compared)]))
    parts = [laid_out(main_rows(compared), ["", *compared.pair.settings.names], note(compared))]
    parts += [side_by_side_text(by_table(compared.table)[SIDE], compared.pair.unit), fill(last, WIDTH)]
    return "\n\n".join(parts)


def laid_out(rows: Sequence[Sequence[str]], heads: Sequence[str], below: str) -> str:
    """Lay out a table above a note, for a terminal of 80 columns."""
    return f"{tabulate(rows, heads, 'simple', disable_numparse=True)}\n\n{fill(below, WIDTH)}"


def main_rows(compared: Compared) -> list[list[str]]:
    """Return a row for each loss, score and decoding: its label, and the cells of model and truth."""
    pair, tables = compared.pair, by_table(compared.table)
    model, truth = pair.settings.names
    rows = []
    for name in LOSSES[pair.unit]:
        cells = (cell(chosen(tables["losses"], model=each, measure=name).iloc[0]) for each in (model, truth))
        rows.append([label("losses", name, pair.unit), *cells])
    for table, names in (("oversmoothing", tables["oversmoothing"].measure), ("forced", OF_FORCED)):
        for name in names:
            found = chosen(tables[table], measure=name)
            rows += [[label(table, name, pair.unit), cell(row), ""] for _, row in found.iterrows()]
    for decoding, (_, row) in zip(pair.settings.decodings, tables["acceptance"].iterrows(), strict=False):
        rows.append([labelled(f"acceptance, {described(decoding)}", "higher"), cell(row), ""])
    if pair.why:
        dropped = (chosen(tables["losses"], model=each, measure="dropped").value.iloc[0] for each in (model, truth))
        rows.append(["dropped", *(f"{value:.2g}" for value in dropped)])
    return rows


def note(compared: Compared) -> str:
    """Return what stands below the first table."""
    pair, tables = compared.pair, by_table(compared.table)
    model, truth = pair.settings.names
    scores = tables["oversmoothing"]
    evidence = (
        f"TTO, NSMD, TV and KL are against {truth} and grow with any error, so beside a higher loss they are no "
        "evidence of a softmax bottleneck"
    )
    if pair.why:
        return (
            f"Over bytes, {pair.why}. Means over {int(scores.n.max()):,} positions [95 % interval]. {evidence}. "
            "Dropped: mean probability of what stands for no byte, such as the end of a text. TBAT, what the head "
            "forces, acceptance and unargmaxable tokens are left out: a distribution of bytes is no softmax of few "
            "dimensions."
        )
    fewer, of_head = "", CAPPED.format(model=model, cap=pair.cap or 0)
    if pair.cap is None:
        tbat = chosen(scores, measure="tbat").iloc[0]
        at = chosen(tables["forced"], measure="forced").iloc[0]
        wide = f", the middle of a bracket that is {tbat.bracket:.2g} wide on average" if pd.notna(tbat.bracket) else ""
        fewer, of_head = f" (TBAT: {int(tbat.n):,}{wide}; forced: {int(at.n):,})", OF_HEAD
    return (
        f"Means over {int(scores.n.max()):,} positions{fewer} [95 % interval]. {evidence}{of_head} Acceptance is the "
        f"probability that speculative sampling keeps a token that {model} drafts for {truth}, both decoded in the "
        "same way."
    )


def side_by_side(table: pd.DataFrame, unit: str) -> tuple[list[list[str]], list[str], list[list[str]]]:
    """Return rows of means, and heads and rows of the quantiles of KL and dp; `unit` is what a position is."""
    means = table[table["quantile"].isna()].set_index("measure")
    beside = [name for name in (*UNITS, *means.index.difference(list(UNITS))) if name not in (*SPREAD, "dp_rms")]
    above = [[label(SIDE, name, unit), _shown(means.loc[name], name)] for name in beside]
    rows = [["mean", *(_shown(means.loc[name], name) for name in SPREAD)]]
    rows.append(["RMS", "", _shown(means.loc["dp_rms"], "dp_rms")])
    for level in table["quantile"].dropna().unique():
        at = chosen(table, quantile=level).set_index("measure")
        rows.append([named(level), *(_shown(at.loc[name], name) for name in SPREAD)])
    return above, ["", *(label(SIDE, name, unit) for name in SPREAD)], rows


def side_by_side_text(table: pd.DataFrame, unit: str = "token") -> str:
    """Lay out the measures of llama.cpp and the others of this table, with their note."""
    above, heads, below = side_by_side(table, unit)
    means = tabulate(above, tablefmt="plain", disable_numparse=True)
    return f"{means}\n\n{laid_out(below, heads, side_by_side_note(table, unit))}"


def side_by_side_note(table: pd.DataFrame, unit: str) -> str:
    """Return what stands below the tables of quantiles."""
    return (
        f"In the measures of llama.cpp's --kl-divergence, over {int(table.n.max()):,} positions, but with 95 % "
        "intervals over whole passages. Perplexities are the model's over the truth's, paired; KL is not clipped; dp "
        f"is the probability of the {unit} that came next, the model's less the truth's. A quantile that fewer than "
        "five passages decide has no interval."
    )


def noise(compared: Compared) -> str:
    """Return how large a KL is noise; nothing over bytes."""
    if (found := compared.noise) is None:
        return ""
    passages = f"{found.passages:,} passage{'s' * (found.passages != 1)}"
    return (
        f"Noise floor: of {compared.pair.settings.names[0]} in {found.precision}, several passages at a time, KL to "
        f"itself in float32, one at a time, is {found.mean:.1g} nats on average and {found.largest:.1g} at most "
        f"({passages})."
    )


def clipping(compared: Compared) -> str:
    """Return how often KL clips the model's probabilities."""
    values = by_table(compared.table)["clipping"].set_index("measure").value
    return (
        f"KL takes a probability below {KL_FLOOR:g} for {KL_FLOOR:g}: that lowers it at {values['clipped']:.2%} of the "
        f"positions, on tokens with {values['clipped_mass']:.2g} of the truth's probability."
    )


def as_json(compared: Compared) -> dict[str, Any]:
    """Return the rows of all printed tables, without empty columns, and the noise floor."""
    pair, found = compared.pair, compared.noise
    tables = {
        name: [{key: value for key, value in row.items() if pd.notna(value)} for row in table.to_dict("records")]
        for name, table in by_table(compared.table).items()
        if len(table)
    }
    names, (prompt, scored) = pair.settings.names, pair.lengths
    return {
        "model": {"name": names[0], "hub": pair.settings.model},
        "truth": {"name": names[1], "hub": pair.settings.truth},
        "windows": {"count": pair.settings.windows, "prompt": prompt, "scored": scored},
        "unit": pair.unit,
        "tables": tables,
        "noise": None
        if found is None
        else {"mean": found.mean, "largest": found.largest, "precision": found.precision},
    }


def as_csv(table: pd.DataFrame) -> str:
    """Return a record of several tables as CSV, without columns that none of them fills."""
    return csv_text(table[[name for name in SCHEMA if SCHEMA[name].always or table[name].notna().any()]])


def by_table(table: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
    """Return the rows of each table of a record, which may be none."""
    return {name: table[table["table"] == name] for name in dict.fromkeys((*TABLES, *table["table"].unique()))}


def label(table: str, name: str, unit: str) -> str:
    """Return how a number is called in a table, with an arrow in the better direction."""
    statistic = _statistic(table, name)
    return labelled(statistic.label.format(unit=unit), str(statistic.better))


def cell(row: pd.Series, decimals: int | None = 4) -> str:
    """Return value and interval, "0.1234 [0.1220, 0.1249]", with so many decimals; None: three significant digits."""
    form = "{:#.3g}" if decimals is None else f"{{:.{decimals}f}}"
    value, *ends = (form.format(row[column] + 0.0) for column in ("value", "low", "high"))
    return value if pd.isna(row.low) else f"{value} [{', '.join(ends)}]"


def _shown(row: pd.Series, name: str) -> str:
    return cell(row, _statistic(SIDE, name).decimals)


def _statistic(table: str, name: str) -> Statistic:
    of_table = (measure for measure in measures().values() if measure.table == table)
    return next(measure.statistics[name] for measure in of_table if name in measure.statistics)
