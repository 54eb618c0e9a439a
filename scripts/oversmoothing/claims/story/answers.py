"""Sentences that open a chapter: numbers of a table with their intervals, and no more than these allow."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.store.layout import number
from oversmoothing.tables.published import listed
from oversmoothing.tables.record import chosen

SEVERAL = "Numbers are means over trainings or truths, intervals from the lowest to the highest end of theirs."


def at_ends(
    table: pd.DataFrame,
    sentence: str,
    also: Mapping[str, Mapping[str, Any]] | None = None,
    decimals: int | None = None,
    difference: bool = False,
    **where: Any,
) -> Iterator[str]:
    """Yield a sentence with a measure at the lowest and the highest rank, or in each model if none has a rank.

    `sentence` and `difference` are as in `said`. `where` holds the values of columns of the rows, None where they have
    none; `also` names further numbers by what `where` is for them instead.
    """
    rows = selected(table, **where)
    groups = {at([member]): rows[_named(rows) == member] for member in _ends(rows)}
    others = {label: selected(table, **{**where, **other}) for label, other in (also or {}).items()}
    yield from said(sentence, groups | others, decimals, difference) if groups else ()


def at_lowest(
    table: pd.DataFrame,
    sentence: str,
    by: str,
    names: Mapping[str, str] | None = None,
    difference: bool = False,
    **where: Any,
) -> Iterator[str]:
    """Yield a sentence with numbers at the lowest rank, {at}, or of the first model, by the values of a column.

    They are those of values that `names` has words for; without it, all.
    """
    rows = selected(table, **where)
    labels = names or {str(value): f"under {value}" for value in rows[by].unique()}
    rows = rows[rows[by].isin(labels)]
    if len(rows):
        lowest, *_ = _ends(rows)
        here = rows[_named(rows) == lowest]
        groups = {label: here[here[by] == value] for value, label in labels.items()}
        yield from said(sentence.replace("{at}", at([lowest])), groups, difference=difference)


def at_each(
    table: pd.DataFrame, sentence: str, by: str = "rank", difference: bool = False, **where: Any
) -> Iterator[str]:
    """Yield a sentence with a measure at every rank, or for every other value of a column; as `at_ends`."""
    rows = selected(table, **where)
    labels = {value: at([int(value)]) if by == "rank" else f"({value})" for value in rows[by].dropna().unique()}
    yield from said(sentence, {label: rows[rows[by] == value] for value, label in labels.items()}, None, difference)


def said(
    sentence: str, groups: Mapping[str, pd.DataFrame], decimals: int | None = None, difference: bool = False
) -> Iterator[str]:
    """Yield a sentence with the numbers of groups of rows for {}, by what is said behind each, and sentences on them.

    These say which numbers their intervals do not distinguish from the first or, of differences, from 0; and how
    several rows became one number. Groups without rows are left out.
    """
    means = {label: mean_within(rows) for label, rows in groups.items() if len(rows)}
    if not means:
        return
    told = sentence.replace("{}", listed([f"{amount(mean, decimals)} {label}" for label, mean in means.items()]))
    yield told[0].upper() + told[1:]
    first, *others = means
    if difference and (alike := [label for label, mean in means.items() if mean.low <= 0 <= mean.high]):
        yield f"By {_intervals(alike)} cannot be distinguished from 0."
    elif not difference and (alike := [label for label in others if _overlap(means[first], means[label])]):
        yield f"By {_intervals(alike, ' alone')} cannot be distinguished from that {first}."
    if any(len(rows) > 1 for rows in groups.values()):
        yield SEVERAL


def selected(table: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """Rows of `record.chosen` that have a value."""
    return chosen(table, **where).dropna(subset="value")


def mean_within(rows: pd.DataFrame) -> pd.Series:
    """``mean`` of the values of rows; ``low`` and ``high`` end all their intervals, NaN if one has none."""
    low, high = rows.low.min(skipna=False), rows.high.max(skipna=False)
    return pd.Series({"mean": rows.value.mean(), "low": low, "high": high})


def amount(mean: pd.Series, decimals: int | None = None) -> str:
    """Return a number with its interval, if it has one."""
    if mean["mean"] == 0 and not mean.high > 0:
        return "0"
    ends = "" if pd.isna(mean.low) else f" [{number(mean.low, decimals)}, {number(mean.high, decimals)}]"
    return f"{number(mean['mean'], decimals)}{ends}"


def at(members: Sequence[object]) -> str:
    """Name ranks, or models without one, in a sentence."""
    if all(isinstance(member, int) for member in members):
        return f"at rank{'s' if len(members) > 1 else ''} {listed([str(member) for member in members])}"
    return f"in {listed([str(member) for member in members])}"


def _named(rows: pd.DataFrame) -> pd.Series:
    """Rank of each row, or the name of its model."""
    return rows["rank"].astype(object).where(rows["rank"].notna(), rows.model)


def _ends(rows: pd.DataFrame) -> list[Any]:
    """Lowest and highest rank, or the names of all models if there is no rank."""
    ranks = rows["rank"].dropna()
    return sorted({int(ranks.min()), int(ranks.max())}) if len(ranks) else list(rows.model.dropna().unique())


def _overlap(a: pd.Series, b: pd.Series) -> bool:
    return bool(a.low <= b.high and b.low <= a.high)


def _intervals(labels: Sequence[str], alone: str = "") -> str:
    several = len(labels) > 1
    whose, numbers = ("their intervals", "numbers") if several else ("its interval", "number")
    return f"{whose}{alone} the {numbers} {listed(labels)}"
