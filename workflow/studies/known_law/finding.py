"""What models show against a law that is known, in sentences."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import said, selected
from studies.known_law.laws import LAW, STAND_INS


def hidden(table: pd.DataFrame) -> Iterator[str]:
    """Yield how much more or less leaks against each kind of models that stand in for a law than against the law."""
    for truth, rows in selected(table, measure="tto", kind="family", less=LAW).groupby("truth", sort=False):
        groups = {
            f"at rank {rank} (law {law})": of_rank
            for law, of_law in rows.groupby("law", sort=False)
            for rank, of_rank in of_law.groupby("rank")
            if rank in (of_law["rank"].min(), of_law["rank"].max())
        }
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
