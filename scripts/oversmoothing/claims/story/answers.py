"""Sentences that open a chapter: numbers of a table with their intervals, and no more than these allow."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.claims.contrast import LEAST, paired
from oversmoothing.claims.measured import NO_SEED
from oversmoothing.numerics.statistics import student_interval
from oversmoothing.store.layout import number
from oversmoothing.tables.published import listed
from oversmoothing.tables.record import chosen

SEVERAL = "Numbers are means over trainings; their intervals are by Student's t over these."
SOME = f"{SEVERAL} A number of one training has its interval over windows of text."
EACH = "{model}"  # in what is said behind a number: one number for each model


def at_ends(
    table: pd.DataFrame,
    sentence: str,
    also: Mapping[str, Mapping[str, Any]] | None = None,
    decimals: int | None = None,
    difference: bool = False,
    alone: str = "",
    **where: Any,
) -> Iterator[str]:
    """Yield a sentence with a measure at the lowest and the highest rank, or in each model if none has a rank.

    `sentence`, `difference` and `alone` are as in `said`. `where` holds the values of columns of the rows, None where
    they have none; `also` names further numbers by what `where` is for them instead, one for each model if the name
    has `EACH`.
    """
    rows = selected(table, **where)
    groups = {at([member]): rows[_named(rows) == member] for member in _ends(rows)}
    for label, other in (also or {}).items():
        further = selected(table, **{**where, **other})
        if EACH in label:
            names = further.model.dropna().unique()
            groups |= {label.replace(EACH, name): chosen(further, model=name) for name in names}
        else:
            groups[label] = further
    yield from said(sentence, groups, decimals, difference, alone=alone) if len(rows) else ()


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
    values = sorted(rows[by].dropna().unique()) if by == "rank" else rows[by].dropna().unique()
    labels = {value: at([int(value)]) if by == "rank" else f"({value})" for value in values}
    groups = {label: rows[rows[by] == value] for value, label in labels.items()}
    yield from said(sentence, groups, None, difference, [""] if by == "truth" else None)


def said(
    sentence: str,
    groups: Mapping[str, pd.DataFrame],
    decimals: int | None = None,
    difference: bool = False,
    truths: Sequence[str] | None = None,
    alone: str = "",
) -> Iterator[str]:
    """Yield a sentence with the numbers of groups of rows for {}, by what is said behind each, and sentences on them.

    Several truths, by default those of the rows, have a sentence each: a mean over truths belongs to none. Further
    sentences say which numbers cannot be distinguished from the first or, of differences, from 0; and how
    several trainings became one number; `alone` follows numbers of which none has an interval. Groups without rows are
    left out.
    """
    groups = {label: rows for label, rows in groups.items() if len(rows)}
    if not groups:
        return
    truths = truths_of(pd.concat(list(groups.values()))) if truths is None else truths
    trainings = set[int]()
    for truth in truths:
        against = {label: against_truth(rows, truth) for label, rows in groups.items()}
        against = {label: rows for label, rows in against.items() if len(rows)}
        means = {label: mean_within(rows) for label, rows in against.items()}
        told = listed([f"{amount(mean, decimals)} {label}" for label, mean in means.items()])
        if len(truths) > 1:
            told = f"{told}, against {truth}" if truth == truths[0] else f"Against {truth} it is {told}."
        told = told if truth != truths[0] else sentence.replace("{}", told)
        yield told[0].upper() + told[1:]
        yield from [alone] if alone and all(pd.isna(mean.low) for mean in means.values()) else []
        yield from _alike(against, means, difference)
        trainings |= {rows.seed.nunique() for rows in against.values()}
    if max(trainings) > 1:
        yield SEVERAL if min(trainings) > 1 else SOME


def selected(table: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """Return rows of `record.chosen` that have a value."""
    return chosen(table, **where).dropna(subset="value")


def truths_of(rows: pd.DataFrame) -> list[str]:
    """Return the truths of rows; "" alone where they have none."""
    return rows.truth.dropna().unique().tolist() or [""]


def against_truth(rows: pd.DataFrame, truth: str) -> pd.DataFrame:
    """Return the rows against a truth, without means over truths; all, if they have none."""
    return chosen(rows, truth=truth) if truth and rows.truth.notna().any() else rows


def mean_within(rows: pd.DataFrame) -> pd.Series:
    """Return the ``mean`` of the values of rows against one truth, with the ends ``low`` and ``high`` of its interval.

    Over several seeds that is of Student's t; of a single row it is its own, and otherwise unknown (NaN).
    """
    own = _by_seed(rows)
    low, high = (rows.low.iloc[0], rows.high.iloc[0]) if len(rows) == 1 else student_interval(own.tolist())[1:]
    return pd.Series({"mean": own.mean(), "low": low, "high": high})


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
    """Return the rank of each row, or the name of its model."""
    return rows["rank"].astype(object).where(rows["rank"].notna(), rows.model)


def _ends(rows: pd.DataFrame) -> list[Any]:
    """Return the lowest and highest rank, or the names of all models if there is no rank."""
    ranks = rows["rank"].dropna()
    return sorted({int(ranks.min()), int(ranks.max())}) if len(ranks) else list(rows.model.dropna().unique())


def _by_seed(rows: pd.DataFrame) -> pd.Series:
    return rows.value.groupby(rows.seed.fillna(NO_SEED).astype(int)).mean()


def _alike(groups: Mapping[str, pd.DataFrame], means: Mapping[str, pd.Series], difference: bool) -> Iterator[str]:
    """Yield which numbers cannot be distinguished from the first, paired by seed if they can be, or from 0."""
    first, *others = means
    if difference:
        alike = [label for label, mean in means.items() if mean.low <= 0 <= mean.high]
        yield from [f"By {_intervals(alike)} cannot be distinguished from 0."] if alike else []
        return
    pairs = {label: _less(groups[label], groups[first]) for label in others}
    by_seed = [label for label, less in pairs.items() if less and less[0] <= 0 <= less[1]]
    alone = [label for label, less in pairs.items() if not less and _overlap(means[first], means[label])]
    if by_seed:
        yield f"Paired by seed, the {_numbers(by_seed)} cannot be distinguished from that {first}."
    if alone:
        yield f"By {_intervals(alone, ' alone')} cannot be distinguished from that {first}."


def _less(rows: pd.DataFrame, others: pd.DataFrame) -> tuple[float, float] | None:
    """Return the interval of the mean difference over the seeds that both have; None of a single one."""
    one, other = (_by_seed(part[part.seed.notna()]) for part in (rows, others))
    if len(one.index.intersection(other.index)) < LEAST:
        return None
    return student_interval(paired(one, other).tolist())[1:]


def _overlap(a: pd.Series, b: pd.Series) -> bool:
    return bool(a.low <= b.high and b.low <= a.high)


def _numbers(labels: Sequence[str]) -> str:
    return f"number{'s' if len(labels) > 1 else ''} {listed(labels)}"


def _intervals(labels: Sequence[str], alone: str = "") -> str:
    return f"{'their intervals' if len(labels) > 1 else 'its interval'}{alone} the {_numbers(labels)}"
