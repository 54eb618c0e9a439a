"""What the heads of a family force of the divergence from the truth, in words that the intervals allow."""

from collections.abc import Iterator
from itertools import groupby

import pandas as pd

from oversmoothing.claims.story.answers import amount, at
from oversmoothing.store.layout import number

HALF, TENTH = 0.5, 0.1
NOT_FORCED = "What is not forced is the model's own: its trunk, its training and its text."


def members(table: pd.DataFrame, measure: str, truth: str | None = None) -> pd.DataFrame:
    """Mean over seeds, and truths, of a measure, by rank, or name without one; ``low`` and ``high`` end all."""
    family = table[(table.kind == "family") & (table.measure == measure)].dropna(subset="value")
    family = family if truth is None else family[family.truth == truth]
    family = family.sort_values("rank", kind="stable")
    names = [model if pd.isna(rank) else int(rank) for model, rank in zip(family.model, family["rank"], strict=True)]
    groups = family.groupby(pd.Index(names, dtype=object), sort=False)
    low, high = groups["low"].agg(pd.Series.min, skipna=False), groups["high"].agg(pd.Series.max, skipna=False)
    return pd.DataFrame({"mean": groups["value"].mean(), "low": low, "high": high})


def finding(table: pd.DataFrame) -> str:
    """State what share of the KL to the truth the heads force, if any, by rank, as far as its intervals allow."""
    shares = [(_share(row), member) for member, row in members(table, "share").iterrows()]
    if not shares:
        return "What the head forces of the KL to the truth, and the rest"
    parts = [(share, [member for _, member in group]) for share, group in groupby(shares, key=lambda pair: pair[0])]
    (first, where), *others = parts
    words = [f"{first} of the KL to the truth {at(where)}", *(f"{share} {at(where)}" for share, where in others)]
    return f"Whatever can enter it, the head forces {', '.join(words)}"


def opening(table: pd.DataFrame) -> Iterator[str]:
    """Yield the finding, whose the rest is, and for each truth what is forced, in nats with intervals."""
    yield f"{finding(table)}. {NOT_FORCED}"
    truths = table.truth.dropna().unique()
    for truth in truths:
        forced, whole = members(table, "forced", truth), members(table, "kl", truth)
        parts = [f"{amount(row)} of {number(whole['mean'][rank])} {at([rank])}" for rank, row in forced.iterrows()]
        if parts:
            yield f"Forced{f', against {truth}' if len(truths) > 1 else ''}, in nats: {'; '.join(parts)}."


def _share(share: pd.Series) -> str:
    """Say how large a share is: on which side of a half and a tenth its interval lies, or else the numbers."""
    mean, low, high = share[["mean", "low", "high"]]
    if mean == high == 0 or (mean == 0 and pd.isna(high)):
        return "nothing"
    if low > HALF:
        return "more than half"
    if low > TENTH and high < HALF:
        return "a tenth to half"
    if high < TENTH:
        return "less than a tenth"
    interval = "" if pd.isna(low) else f" [{100 * low:.0f}, {100 * high:.0f}]"
    return f"{100 * mean:.0f}{interval} %"
