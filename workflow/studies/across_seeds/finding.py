"""How far each rank is above the next, in sentences."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at_each, selected


def steps(table: pd.DataFrame) -> Iterator[str]:
    """Yield how far the TTO of each rank of the family is above that of the next higher one, against each truth."""
    rows = selected(table, kind="family", measure="tto")
    over_all = rows.truth.isna()
    rows = rows[over_all if rows.truth.nunique() == 1 else ~over_all]  # older tables have no others
    rows = rows[rows.less.str.startswith("rank", na=False)]
    yield from at_each(rows, "Paired by seed, TTO is above that of the next higher rank by {}.", difference=True)
