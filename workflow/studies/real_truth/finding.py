"""Steps between ranks against each truth, in sentences."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at_each, selected


def steps(table: pd.DataFrame) -> Iterator[str]:
    """Yield how far the TTO of each rank is above that of full rank, against each truth."""
    rows = selected(table, kind="family", measure="tto")
    full = f"rank {int(rows['rank'].max())}"
    for truth in rows.truth.unique():
        sentence = f"Against {truth}, TTO less that of {full}, paired by seed, is {{}}."
        yield from at_each(rows, sentence, difference=True, truth=truth, less=full)
