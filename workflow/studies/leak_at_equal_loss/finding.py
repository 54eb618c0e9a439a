"""What a rank leaks more than the full head, at equal steps and at equal loss, in sentences."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at_each, selected
from studies.leak_at_equal_loss.table import EQUAL, FAMILY, LOSS


def differences(table: pd.DataFrame) -> Iterator[str]:
    """Yield how far the TTO of each rank is above that of the full head after equal steps, and at equal loss."""
    ways = {f"rank {table['rank'].max()}": "after equal steps", EQUAL[LOSS]: "at equal validation loss"}
    for less, how in ways.items():
        rows = selected(table, measure="tto", less=less, kind=FAMILY)
        for truth in rows.truth.unique():
            sentence = f"TTO less that of the full head {how}, against {truth}, is {{}}."
            yield from at_each(rows, sentence, difference=True, truth=truth)
