"""What other heads and other objectives are worth, in sentences."""

from collections.abc import Iterator, Sequence

import pandas as pd

from oversmoothing.claims.story.answers import said, selected
from studies.other_explanations.kinds import LINEAR_HEADS, OTHER_HEADS, SHORTER
from studies.other_explanations.table import EQUAL_LOSS, EQUAL_TTO, FULL


def bottleneck(table: pd.DataFrame) -> Iterator[str]:
    """Yield what linear heads of lower ranks leak more than the one of the highest."""
    rows = _real(table, "tto", FULL, [LINEAR_HEADS])
    groups = {f"at rank {rank}": rows[rows["rank"] == rank] for rank in rows["rank"].unique()}
    return said("With a linear head, TTO is above that of the full head by {}.", groups, difference=True)


def other_heads(table: pd.DataFrame) -> Iterator[str]:
    """Yield what other heads leak less or more than linear heads of the lowest and of the highest rank."""
    return _others(table, "tto", LINEAR_HEADS, OTHER_HEADS, "TTO of other heads minus that of the linear head")


def objectives(table: pd.DataFrame) -> Iterator[str]:
    """Yield the same of other objectives beside cross-entropy."""
    return _others(
        table, "tto", LINEAR_HEADS, _objectives(table), "TTO under other objectives minus that of cross-entropy"
    )


def at_equal_loss(table: pd.DataFrame) -> Iterator[str]:
    """Yield what other heads leak more than a full linear head of their loss."""
    what = "TTO of other heads minus that of the full linear head at equal loss"
    return _others(table, "tto", EQUAL_LOSS, OTHER_HEADS, what)


def beyond_temperature(table: pd.DataFrame) -> Iterator[str]:
    """Yield how far objectives are from the truth beside cross-entropy at the temperature with as much TTO."""
    what = "TV under other objectives minus that of cross-entropy at the temperature with as much TTO"
    return _others(table, "tv", EQUAL_TTO, _objectives(table), what)


def _objectives(table: pd.DataFrame) -> list[str]:
    return [kind for kind in table.kind.dropna().unique() if kind not in (LINEAR_HEADS, SHORTER, *OTHER_HEADS)]


def _real(table: pd.DataFrame, measure: str, less: str, kinds: Sequence[str]) -> pd.DataFrame:
    rows = selected(table, measure=measure, less=less)
    return rows[rows.kind.isin(kinds) & rows.law.isna()]


def _others(table: pd.DataFrame, measure: str, less: str, kinds: Sequence[str], what: str) -> Iterator[str]:
    rows = _real(table, measure, less, kinds)
    for rank in sorted({rows["rank"].min(), rows["rank"].max()}) if len(rows) else ():
        of_rank = rows[rows["rank"] == rank]
        groups = {f"({arm})": of_rank[of_rank.arm == arm] for arm in of_rank.arm.unique()}
        yield from said(f"{what}, at rank {rank}, is {{}}.", groups, difference=True)
