"""What the heads of a family force of the divergence from the truth, in words that the intervals allow."""

from collections.abc import Iterator
from itertools import groupby

import pandas as pd

from oversmoothing.claims.story.answers import SEVERAL, amount, at, at_each, mean_within
from oversmoothing.store.layout import number
from studies.forced_part.added import FORCED, LESS

HALF, TENTH = 0.5, 0.1
NOT_FORCED = "What is not forced is the model's own: its trunk, its training and its text."


def members(table: pd.DataFrame, measure: str, truth: str) -> pd.DataFrame:
    """Return the mean over seeds of a measure against a truth, with its interval, by rank, or name without one."""
    family = table[(table.kind == "family") & (table.measure == measure) & (table.truth == truth)]
    family = family.dropna(subset="value").sort_values("rank", kind="stable")
    names = [model if pd.isna(rank) else int(rank) for model, rank in zip(family.model, family["rank"], strict=True)]
    groups = family.groupby(pd.Index(names, dtype=object), sort=False)
    found = {member: mean_within(rows) for member, rows in groups}
    return pd.DataFrame(found.values(), index=pd.Index(found, dtype=object), columns=["mean", "low", "high"])


def finding(table: pd.DataFrame) -> str:
    """State what share of the KL to each truth the heads force, if any, by rank, as far as its intervals allow."""
    told = {
        truth: words for truth in table.truth.dropna().unique() if (words := _forced(members(table, "share", truth)))
    }
    if not told:
        return "What the head forces of the KL to the truth, and the rest"
    if len(set(told.values())) == 1:
        said = [told.popitem()[1].format("to each truth" if told else "to the truth")]
    else:
        said = [words.format(f"to {truth}") for truth, words in told.items()]
    return f"Whatever can enter it, the head forces {'; '.join(said)}"


def of_added(table: pd.DataFrame) -> Iterator[str]:
    """Yield the share of what each rank adds to the KL of full rank that its head forces, against each truth."""
    sentence = f"Of the KL that a rank adds to that of {LESS}, its head (behind its LayerNorm) forces a share of {{}}."
    yield from at_each(table[table.seed.notna()], sentence, measure=FORCED, less=LESS, kind="family")


def opening(table: pd.DataFrame) -> Iterator[str]:
    """Yield the finding, whose the rest is, and for each truth what is forced, in nats with intervals."""
    yield f"{finding(table)}. {NOT_FORCED}"
    truths = table.truth.dropna().unique()
    for truth in truths:
        forced, whole = members(table, "forced", truth), members(table, "kl", truth)
        parts = [f"{amount(row)} of {number(whole['mean'][rank])} {at([rank])}" for rank, row in forced.iterrows()]
        if parts:
            yield f"Forced{f', against {truth}' if len(truths) > 1 else ''}, in nats: {'; '.join(parts)}."
    if table[table.kind == "family"].seed.nunique() > 1:
        yield SEVERAL


def _forced(shares: pd.DataFrame) -> str:
    """Name the shares, those of neighbouring ranks that are alike together, with a place for "to the truth"."""
    named = [(_share(row), member) for member, row in shares.iterrows()]
    parts = [(share, [member for _, member in group]) for share, group in groupby(named, key=lambda pair: pair[0])]
    words = [f"{share} {at(where)}" for share, where in parts]
    return ", ".join([f"{parts[0][0]} of the KL {{}} {at(parts[0][1])}", *words[1:]]) if parts else ""


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
