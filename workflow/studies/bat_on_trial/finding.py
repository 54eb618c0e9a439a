"""What BAT and its rivals reject of impossible bytes, in a sentence."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import said, selected


def caught(table: pd.DataFrame) -> Iterator[str]:
    """Yield what BAT and its rivals reject of the mass on impossible bytes, at the lowest rank."""
    rows = selected(table, measure="caught", kind="family", condition=None)
    lowest = rows[rows["rank"] == rows["rank"].min()]
    groups = {f"by {decoding}": lowest[lowest.decoding == decoding] for decoding in lowest.decoding.unique()}
    where = f"At rank {rows['rank'].min()}, where all reject as much of the law's own mass"
    sentence = f"{where}, the share of the model's mass on impossible bytes that is rejected is {{}}."
    return said(sentence, groups)
