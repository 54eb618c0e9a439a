"""The chapter of the story page."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at_ends, at_lowest, said, selected, together
from oversmoothing.claims.story.chapters import Chapter
from studies.bat_on_trial.claims import CLAIMS


def on_trial(table: pd.DataFrame) -> Iterator[str]:
    """Yield what BAT and its rivals reject of the mass on impossible bytes, at the lowest rank."""
    rows = selected(table, measure="caught", kind="family")
    lowest = rows[rows["rank"] == rows["rank"].min()]
    groups = {f"by {decoding}": lowest[lowest.decoding == decoding] for decoding in lowest.decoding.unique()}
    where = f"At rank {rows['rank'].min()}, where all reject as much of the law's own mass"
    sentence = f"{where}, the share of the model's mass on impossible bytes that is rejected is {{}}."
    return said(sentence, groups)


CHAPTER = Chapter(
    "Is what BAT assumes true?",
    (
        "BAT, the basis-aware threshold, keeps a byte only if the head leaves no way for the truth to give it nothing. "
        "That is a proof if model and truth have the same moments under the head and the truth is nowhere far above "
        "the model: how far is that from true, and what becomes of the sets where half of it is (`docs/bat.md`)? "
        "Where a law gives some bytes nothing, does BAT reject more of a model's mass on these than other truncations?",
    ),
    answers={
        "bat_premise": together(
            at_ends(
                "That the truth gives no byte far more than the model does, as BAT assumes, is false at a share of "
                "positions of {}.",
                measure="exceeded",
            ),
            at_lowest(
                "Of the truth's nucleus, the few bytes that it finds probable, probability is rejected {at}: {}.",
                "measure",
                {"rejected_mass": "by BAT", "top_rejected_mass": "by a cut that keeps as many bytes, the likeliest"},
            ),
        ),
        "bat_on_trial": on_trial,
    },
    claims=tuple(claim.id for claim in CLAIMS),
    tables=("bat_premise", "bat_on_trial"),
    after="What decoding mends",
)
