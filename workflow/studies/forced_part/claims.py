"""Claims of our own: what heads force of the KL to the truth."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from oversmoothing.claims.choose import MODERATE, full_rank, of_rank
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import Comparison, Missing, Outcome, Value, constant
from oversmoothing.claims.evidence import Margin, Run, sums_by_window
from oversmoothing.claims.members import Member

LOWEST, LOW = 4, (4, 8)
MOST = 0.5  # of the KL
LITTLE = 0.2  # of the KL
ALL = 0.9  # of what a rank costs: a tenth is a difference that the thesis considers none


def share(run: Run, part: str, member: Member) -> Value:
    """Return the mean of "forced" or of "rest" as a share of the mean KL to the truth."""
    scores = [run.positions("forced", model, part, "kl") for model in member.models]
    return _share(member, "forced_of_kl", [(score[part], score.kl) for score in scores])


def share_of_cost(run: Run, member: Member) -> Value:
    """Return what the head forces as a share of the KL beyond that of the full-rank model of the same seed."""
    pairs = []
    for model, other in zip(member.models, full_rank(run.family).models, strict=True):
        scores = run.positions("forced", model, "forced", "kl")
        pairs.append((scores.forced, scores.kl - run.positions("forced", other, "kl").kl))
    return _share(member, "forced_of_cost", pairs)


def most_is_forced_at_4(run: Run) -> list[Comparison]:
    """Test whether more than half of the KL to the truth is forced at rank 4."""
    member = of_rank(run.family, LOWEST)
    name = f"share of the KL that the head forces, {member}"
    return [run.compare(share(run, "forced", member), constant(0), name, MOST)]


def little_is_forced_from_16(run: Run) -> list[Comparison]:
    """Test whether less than a fifth of the KL is forced at each rank from 16 on.

    A head of full rank forces nothing whatever it is, so it is no evidence.
    """
    comparisons = []
    for member in run.family:
        if member.rank is not None and member.rank >= MODERATE and not member.full:
            rest = share(run, "rest", member)
            rest = replace(rest, size=1 - rest.mean)  # trainings differ by a share of what is forced
            name = f"share of the KL that the head does not force, {member}"
            comparisons.append(run.compare(rest, constant(0), name, 1 - LITTLE))
    if not comparisons:
        raise Missing(f"no model has a rank from {MODERATE} on and below full rank")
    return comparisons


def forced_is_the_cost_of_the_rank(run: Run) -> list[Comparison]:
    """Test whether at ranks 4 and 8 the head forces at least nine tenths of the KL beyond the full-rank model's.

    `Missing` if a rank has no clearly higher KL, as a share of next to nothing says nothing.
    """
    full, comparisons = full_rank(run.family), []
    for rank in LOW:
        member = of_rank(run.family, rank)
        kl, least = (run.mean("forced", "kl", one, "kl") for one in (member, full))
        if run.compare(kl, least, "").outcome != Outcome.HOLDS:
            raise Missing(f"{member} has no clearly higher KL to the truth than {full}")
        name = f"share of the KL beyond that of {full} that the head forces, {member}"
        comparisons.append(run.compare(share_of_cost(run, member), constant(0), name, ALL))
    return comparisons


def _share(member: Member, kind: str, pairs: Sequence[tuple[pd.Series, pd.Series]]) -> Value:
    """Return the mean of a part by the mean of the whole, for each training.

    The values by window are those of the share made linear: their mean is the share, and in a bootstrap they vary as it
    does, to first order.
    """
    shares, sums = [], []
    for part, whole in pairs:
        if not (size := float(whole.mean())) > 0:
            raise Missing(f"{member} has a seed in which there is nothing to take a share of")
        shares.append(float(part.mean()) / size)
        sums.append(sums_by_window(shares[-1] + (part - shares[-1] * whole) / size))
    truths = pairs[0][0].index.get_level_values("truth").nunique()
    return Value(tuple(shares), member.trainings, kind, tuple(sums), repeats=truths)


PLACE = "docs/forced.md"
HEADINGS = {PLACE: "Beyond the thesis: what heads force"}
MARGINS = {
    "forced_of_kl": Margin("the forced share of KL", lambda run, member: [share(run, "forced", member)]),
    "forced_of_cost": Margin(
        "the forced share of what a rank costs",
        lambda run, member: [share_of_cost(run, member)] if member.rank in LOW else [],
    ),
}
CLAIMS = [
    Claim(
        "head-forces-most-at-4",
        PLACE,
        "At rank 4 the head forces more than half of the KL to the truth.",
        "Mean of what the head forces by the mean of the KL, above 0.5.",
        most_is_forced_at_4,
    ),
    Claim(
        "little-is-forced-from-16",
        PLACE,
        "From rank 16 on the head forces less than a fifth of the KL to the truth.",
        "Share of the KL that is not forced, above 0.8, at each rank from 16 on but full rank, where no head forces "
        "anything.",
        little_is_forced_from_16,
    ),
    Claim(
        "forced-is-the-cost-of-the-rank",
        PLACE,
        "What ranks 4 and 8 add to the KL of the full-rank model is all forced by their heads.",
        "What the head forces as a share of the KL less that of the full-rank model, at each of the two ranks, above "
        "0.9; paired by position. It can exceed 1.",
        forced_is_the_cost_of_the_rank,
    ),
]
