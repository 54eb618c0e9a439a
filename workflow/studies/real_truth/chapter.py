"""The chapter of the story page."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at, at_ends, said, selected, together
from oversmoothing.claims.story.chapters import Chapter


def steps(table: pd.DataFrame) -> Iterator[str]:
    """Yield how far the TTO of each rank is above that of full rank, against each truth."""
    rows = selected(table, kind="family", measure="tto")
    full = f"rank {int(rows['rank'].max())}"
    for truth in rows.truth.unique():
        of_truth = rows[(rows.truth == truth) & (rows.less == full)]
        groups = {at([int(rank)]): of_truth[of_truth["rank"] == rank] for rank in of_truth["rank"].unique()}
        yield from said(f"Against {truth}, TTO less that of {full}, paired by seed, is {{}}.", groups, difference=True)


CHAPTER = Chapter(
    "A real language model as the truth",
    (
        "A truth that is trained here learned the same text as the family, and may share its faults. A real language "
        "model has read far more. It predicts tokens and not bytes; its distribution of the next byte is computed "
        "exactly, by summing over all tokens that may cover it.",
    ),
    answers={
        "real_truth": together(
            at_ends(
                "The head forces {} of the KL to the truth, whichever it is (mean over truths).",
                kind="family",
                measure="forced_share",
                less=None,
            ),
            steps,
        )
    },
    tables=("real_truth",),
    figures=("real_truth",),
)
