"""What a rank leaks more than the full head, at equal steps and at equal loss, in sentences."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at_each, said, selected
from studies.leak_at_equal_loss.table import CORRELATION, EQUAL, FAMILY


def at_steps(table: pd.DataFrame) -> Iterator[str]:
    """Yield how far the TTO of each rank is above that of the full head after equal steps."""
    return _differences(table, f"rank {table['rank'].max()}", "after equal steps")


def at_loss(table: pd.DataFrame) -> Iterator[str]:
    """Yield the same at equal validation loss."""
    return _differences(table, EQUAL["validation_loss"], "at equal validation loss")


def line(table: pd.DataFrame) -> Iterator[str]:
    """Yield how TTO and validation loss correlate over ranks."""
    rows = selected(table, measure=f"tto{CORRELATION}")
    groups = {f"against {truth}": rows[rows.truth == truth] for truth in rows.truth.unique()}
    yield from said("Over the ranks of a seed TTO and validation loss correlate with {} (Pearson's r).", groups)


def _differences(table: pd.DataFrame, less: str, how: str) -> Iterator[str]:
    rows = selected(table, measure="tto", less=less)
    rows = rows[rows.kind == FAMILY]
    for truth in rows.truth.unique():
        sentence = f"TTO less that of the full head {how}, against {truth}, is {{}}."
        yield from at_each(rows, sentence, difference=True, truth=truth)
