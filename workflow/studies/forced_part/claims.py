"""Claims of our own: what heads force of the KL to the truth."""

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing, less
from oversmoothing.claims.measured import Measured, Rank
from oversmoothing.claims.thesis import MODERATE

LOWEST, LOW = 4, (4, 8)
MOST = 0.5  # of the KL
LITTLE = 0.2  # of the KL
ALL = 0.9  # of what a rank costs: a tenth is a difference that the thesis considers none


def part(m: Measured, measure: str, rank: Rank) -> pd.Series:
    """Return the mean of a part of the KL to the truths in nats, by seed."""
    return m.values("forced", measure, rank=rank.rank)


def of_rank(m: Measured, rank: int) -> Rank:
    """Return the rank of the family, or raise `Missing`."""
    for one in m.family:
        if one.rank == rank:
            return one
    raise Missing(f"no model has rank {rank}")


def most_is_forced_at_4(m: Measured) -> list[Contrast]:
    """Hold the share of the KL to the truth that rank 4 forces to above a half."""
    rank = of_rank(m, LOWEST)
    share = part(m, "forced", rank) / part(m, "kl", rank)
    return [less(f"share of the KL that the head forces, {rank}", share, above=MOST)]


def little_is_forced_from_16(m: Measured) -> list[Contrast]:
    """Hold the share that is forced at each rank from 16 on, but full rank, which forces nothing, to below a fifth."""
    found = [
        less(
            f"share of the KL that the head does not force, {rank}",
            part(m, "rest", rank) / part(m, "kl", rank),
            above=1 - LITTLE,
        )
        for rank in m.family
        if rank.rank >= MODERATE and not rank.full
    ]
    if not found:
        raise Missing(f"no model has a rank from {MODERATE} on and below full rank")
    return found


def forced_is_the_cost_of_the_rank(m: Measured) -> list[Contrast]:
    """Hold what ranks 4 and 8 force to at least nine tenths of the KL beyond the full-rank model's."""
    full, found = part(m, "kl", m.full()), []
    for rank in (of_rank(m, low) for low in LOW):
        cost = part(m, "kl", rank) - full
        if not (cost > 0).all():
            raise Missing(f"{rank} has no clearly higher KL to the truth than {m.full()}")
        name = f"share of the KL beyond that of {m.full()} that the head forces, {rank}"
        found.append(less(name, part(m, "forced", rank) / cost, above=ALL))
    return found


PLACE = "docs/forced.md"
HEADINGS = {PLACE: "Beyond the thesis: what heads force"}
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
        "0.9. It can exceed 1.",
        forced_is_the_cost_of_the_rank,
    ),
]
