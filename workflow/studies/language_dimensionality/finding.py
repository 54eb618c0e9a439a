"""How much of a language heads of few dimensions lose, in a sentence."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import said, selected


def lost(table: pd.DataFrame) -> Iterator[str]:
    """Yield the W-error of the longest contexts of byte pairs, without noise, at the fewest dimensions and the most."""
    rows = selected(table, text="train", token="byte pair", measure="without_noise")
    rows = rows[(rows.context == rows.context.max()) & (rows.value > 0)]
    ends = (rows.dimensions.min(), rows.dimensions.max())
    return said(
        "Contexts and the byte pairs that follow them make a matrix. The share of it that is lost, without the noise "
        "of sampling, is {}.",
        {f"with {d:,} dimensions": rows[rows.dimensions == d] for d in ends} if len(rows) else {},
    )
