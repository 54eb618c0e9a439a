"""The chapter of the story page."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at_ends, selected
from oversmoothing.claims.story.chapters import Chapter


def first_prompt(table: pd.DataFrame) -> Iterator[str]:
    """Yield the probability of the byte that follows the first prompt."""
    expected = selected(table, prompt=table.prompt.iloc[0], measure="p_next")
    sentence = f"After the first prompt “{expected.note.iloc[0]}” follows; its probability is {{}}."
    return at_ends(sentence, also={"for the truth": {"kind": "truth"}}, kind="family")(expected)


CHAPTER = Chapter(
    "The next byte",
    (
        "What does each model expect after one prompt? A single prompt is an example and no measurement; the figures "
        "of each are at the end of the page.",
    ),
    answers={"next_byte": first_prompt},
    tables=("next_byte",),
    cover="oversmoothing_illustrated",
)
