"""What other heads and other objectives are worth, in sentences."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import said, selected
from studies.other_explanations.kinds import LINEAR_HEADS, OTHER_HEADS, SHORTER


def compared(table: pd.DataFrame, measure: str, less: str, what: str, objectives: bool = False) -> Iterator[str]:
    """Yield what other heads, or objectives, show less what the column `less` says, at the lowest and highest rank."""
    others = {*table.kind.dropna()} - {LINEAR_HEADS, SHORTER, *OTHER_HEADS}
    rows = selected(table, measure=measure, less=less, law=None)
    rows = rows[rows.kind.isin(others if objectives else OTHER_HEADS)]
    for rank in sorted({rows["rank"].min(), rows["rank"].max()}) if len(rows) else ():
        of_rank = rows[rows["rank"] == rank]
        groups = {f"({arm})": of_rank[of_rank.arm == arm] for arm in of_rank.arm.unique()}
        yield from said(f"{what}, at rank {rank}, is {{}}.", groups, difference=True)
