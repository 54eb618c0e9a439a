"""What models show against a law that is known, in sentences."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import said, selected
from studies.known_law.laws import LAW, STAND_INS


def hidden(table: pd.DataFrame) -> Iterator[str]:
    """Yield how much more or less leaks against each kind of models that stand in for a law than against the law."""
    for truth, rows in selected(table, measure="tto", kind="family", less=LAW).groupby("truth", sort=False):
        groups = {f"at rank {rank} (law {law})": rows[_at(rows, law, rank)] for law, rank in _ends(rows)}
        against = "models that learned the same text" if truth == STAND_INS else f"`{truth}`"
        sentence = f"Held against {against}, TTO minus that against the law itself is {{}}."
        yield from said(sentence, groups, difference=True)


def with_more_text(table: pd.DataFrame) -> Iterator[str]:
    """Yield, of each law with two lengths of text, what the lowest rank is forced to and the rest, by length."""
    members = selected(table, kind="family", truth=LAW, less=None)
    for law, part in members.groupby("law", sort=False):
        if part.sequences.nunique() > 1:
            lowest = part[part["rank"] == part["rank"].min()]
            for measure, what in (("forced", "the head forces"), ("rest", "the rest is")):
                by_length = lowest[lowest.measure == measure].groupby("sequences")
                groups = {f"with {length:,} sequences": rows for length, rows in by_length}
                which = f"At rank {lowest['rank'].iloc[0]}, of KL to the law {law} (nats a byte), {what} {{}}."
                yield from said(which, groups)


def _ends(rows: pd.DataFrame) -> list[tuple[str, int]]:
    """Each law with its lowest and its highest rank."""
    ranks = rows.groupby("law", sort=False)["rank"].agg(["min", "max"])
    return [(law, int(rank)) for law, ends in ranks.iterrows() for rank in ends]


def _at(rows: pd.DataFrame, law: str, rank: int) -> pd.Series:
    return (rows.law == law) & (rows["rank"] == rank)
