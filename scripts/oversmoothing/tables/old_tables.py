"""Tables of version 0.2 and before, in which numbers and measures had names of their own, as rows of the record."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

# Columns that held the number of a row. Where none named the measure it goes by that column, for "mean" by the table.
NUMBERS = ("mean", "value", "difference", "validation_loss", "unargmaxable", "w_error")
RENAMED = {
    **dict.fromkeys(NUMBERS, "value"),
    **dict.fromkeys(("metric", "quantity"), "measure"),
    **dict.fromkeys(("published_mean", "published_value", "published_unargmaxable"), "published"),
    **{"way": "kind", "byte": "class", "bytes": "note"},
}
KINDS = {
    "learned from scratch": "family",
    "learned from scratch, plain head": "plain",
    "gradient alone": "backward",
    "head updated inside its column space": "inside",
    "unused classes": "unused",
    "truncated": "svd",
    "retrained": "retrained",
    "retrained with LayerNorm": "normed",
    "plain head from scratch, less gradient alone": "plain less backward",
    "plain head from scratch, less retrained": "plain less retrained",
}


class Beside(NamedTuple):
    """A measure with columns of its own: its name, its keys, for each of which it has one row, and these columns."""

    measure: str  # {} is the measure that it stood beside
    keys: Sequence[str]
    columns: Mapping[str, str]  # by column of the record


MODEL = ("model", "kind", "rank", "seed")
CONDITION = (*MODEL, "condition")
REVISION = ("model", "revision", "step")
NGRAMS = ("text", "token", "context")
MEASURED = ("measure", "unit")
ALONE = {  # columns that held a measure of the same name, with the keys of its rows
    **dict.fromkeys(("v", "tokens", "contexts", "contexts_seen", "effective_rank", "effective_rank_shuffled"), NGRAMS),
    "shuffled": (*NGRAMS, "dimensions"),
    "undecided": CONDITION,
    **dict.fromkeys(("fitted", "parameters", "seen", "ratio"), MODEL),
    "above": ("arm", "learning_rate"),
    "share": ("class",),
}
BESIDE = {
    **{name: Beside(name, keys, {"value": name}) for name, keys in ALONE.items()},
    **{name: Beside(name, CONDITION, {"note": name}) for name in ("only_ours", "only_published")},
    **{name: Beside(name, REVISION, {"note": name}) for name in ("read", "commit", "weights")},
    "base": Beside("{}_base", (*MODEL, "truth", *MEASURED), {"value": "base"}),
    "d": Beside("dimensions", (*MODEL, "representation"), {"value": "d"}),
    "excess": Beside(
        "excess", (*MODEL, "approximation", "n"), {"value": "excess", "low": "excess_low", "high": "excess_high"}
    ),
    "median": Beside("{}_median", (*MODEL, *MEASURED), {"value": "median"}),
    "occurrences": Beside("occurrences", ("class",), {"value": "occurrences", "note": "name"}),
    "published_unlisted": Beside("unlisted", CONDITION, {"published": "published_unlisted"}),
    "resampled_mean": Beside("{}_resampled", (*MODEL, "decoding", *MEASURED), {"value": "resampled_mean"}),
    "without_noise": Beside(
        "without_noise",
        (*NGRAMS, "dimensions"),
        {"value": "without_noise", "low": "without_noise_low", "high": "without_noise_high"},
    ),
}
PREDICTED = {"p_next": "next", "p_top": "top"}  # probabilities of classes, and the columns that named the classes


def of_old(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the record, among other columns, from a table as version 0.2 wrote it; none if it had no numbers."""
    if set(PREDICTED) <= set(table):
        return _predictions(table)
    number = next((column for column in NUMBERS if column in table), None)
    if number is None:
        return table.iloc[:0, :0]
    rows = table.rename(columns=RENAMED)
    if "way" in table:
        rows["kind"] = rows.kind.replace(KINDS)
    if "measure" not in rows:
        rows["measure"] = name if number == "mean" else number
    for column in ("chosen", "exact"):
        if column in table:
            rows["note"] = table[column].map({True: column})
    return pd.concat([rows, *(_beside(rows, BESIDE[column]) for column in table if column in BESIDE)])


def _beside(rows: pd.DataFrame, one: Beside) -> pd.DataFrame:
    """Rows of one further measure."""
    keys = [key for key in one.keys if key in rows]
    columns = list(one.columns.values())
    held = rows[[*keys, *columns]].dropna(subset=columns, how="all").drop_duplicates()
    held = held.rename(columns={column: name for name, column in one.columns.items()})
    measures = held.measure if "measure" in held else [""] * len(held)
    return held.assign(measure=[one.measure.format(measure) for measure in measures])


def _predictions(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the table with a column for each measure."""
    rows = table.drop(columns=[*PREDICTED.values()]).melt(["prompt", *MODEL, "decoding"], var_name="measure")
    for measure, column in PREDICTED.items():
        rows.loc[rows.measure == measure, "note"] = table[column].to_numpy()
    return rows.dropna(subset="value")
