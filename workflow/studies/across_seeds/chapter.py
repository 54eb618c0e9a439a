"""The chapter of the story page."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at, at_ends, said, selected, together
from oversmoothing.claims.story.chapters import Chapter


def steps(table: pd.DataFrame) -> Iterator[str]:
    """Yield how far the TTO of each rank is above that of the next higher one, paired by seed."""
    rows = selected(table, kind="family", measure="tto_step")
    groups = {at([int(rank)]): rows[rows["rank"] == rank] for rank in rows["rank"].dropna().unique()}
    return said("Paired by seed, TTO is above that of the next higher rank by {}.", groups, difference=True)


def floor(table: pd.DataFrame) -> Iterator[str]:
    """Yield the TTO of models that differ in nothing but their seed against each other."""
    rows = selected(table, measure="tto_floor", model=None)
    groups = {f"({note})": rows[rows.note == note] for note in rows.note.dropna().unique()}
    return said("Two models that differ in nothing but their seed show {} against each other.", groups)


CHAPTER = Chapter(
    "What holds across seeds",
    (
        "Two trainings differ by chance even at one rank. With several seeds, ranks are compared seed by seed, and two "
        "models that differ in nothing but their seed show how much leaks by chance alone.",
    ),
    answers={
        "across_seeds": together(
            at_ends(
                "The probability that leaks outside the truth's nucleus (TTO) is, over all seeds, {}.",
                measure="tto",
                kind="family",
                truth=None,
            ),
            steps,
            floor,
        )
    },
    tables=("across_seeds",),
    figures=("across_seeds",),
)
