"""What models expect after the first prompt, in a sentence."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at_ends, selected


def first_prompt(table: pd.DataFrame) -> Iterator[str]:
    """Yield the probability of the byte that follows the first prompt."""
    expected = selected(table, prompt=table.prompt.iloc[0], measure="p_next")
    sentence = f"After the first prompt “{expected.note.iloc[0]}” follows; its probability is {{}}."
    return at_ends(expected, sentence, also={"for the truth ({model})": {"kind": "truth"}}, kind="family")
