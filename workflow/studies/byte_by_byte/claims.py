"""Claims about single bytes (thesis 4.3, Figures 4.2 and 4.3)."""

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing, less
from oversmoothing.claims.measured import Measured, Rank
from oversmoothing.claims.thesis import score
from studies.byte_by_byte.table import ARGMAX, EXTREMES, NSMD, OCCURRENCES

NEARLY_ALL = 0.9  # of the bytes


def occurrences(m: Measured) -> pd.Series:
    """Return how often each byte that occurs stands in the scored text, the most frequent first."""
    text = m.table("bytes")
    counts = text[text.measure == OCCURRENCES].set_index("class").value
    counts = counts[counts > 0]
    if len(counts) < 2 * EXTREMES:
        raise Missing(f"only {len(counts)} different bytes stand in the windows; it takes {2 * EXTREMES}")
    return counts


def by_byte(m: Measured, measure: str, rank: Rank) -> pd.DataFrame:
    """Return a measure by seed (rows) and byte, its mean over truths."""
    rows = m.table("bytes")
    rows = rows[(rows.measure == measure) & (rows.kind == "family") & (rows["rank"] == rank.rank)]
    return rows.pivot_table(index="seed", columns="class", values="value")


def lowest_and_best(m: Measured) -> tuple[Rank, Rank]:
    """Return the two ranks of Figure 4.2: the lowest, and the one with the lowest NSMD."""
    lowest, *others = m.ranks(least=2)
    return lowest, min(others, key=lambda rank: score(m, NSMD, rank).mean())


def rare_bytes_are_oversmoothed_more(m: Measured) -> list[Contrast]:
    """Contrast the NSMD at the ten rarest bytes with that at the ten most frequent, over their positions."""
    counts, found = occurrences(m), []
    for rank in lowest_and_best(m):
        nsmd = by_byte(m, NSMD, rank)
        rare, frequent = (
            (nsmd[ends.index] * ends).sum(axis=1) / ends.sum()
            for ends in (counts.tail(EXTREMES), counts.head(EXTREMES))
        )
        found.append(less(f"NSMD, rarest less most frequent bytes, {rank}", rare, frequent))
    return found


def lowest_rank_is_worse_at_nearly_every_byte(m: Measured) -> list[Contrast]:
    """Hold the share of bytes at which the lowest rank has the higher mean NSMD to above nine in ten."""
    lowest, best = lowest_and_best(m)
    higher = by_byte(m, NSMD, lowest) > by_byte(m, NSMD, best)
    return [less(f"share of {higher.shape[1]} bytes, {lowest} above {best}", higher.mean(axis=1), above=NEARLY_ALL)]


def lowest_rank_never_predicts_the_rarest(m: Measured) -> list[Contrast]:
    """Count how often the lowest rank predicts one of the ten rarest bytes; 0 is expected, exactly."""
    lowest, rarest = m.ranks()[0], occurrences(m).tail(EXTREMES).index
    shares = by_byte(m, ARGMAX, lowest)[rarest].sum(axis=1)
    return [Contrast(f"share of positions at which {lowest} predicts one of the rarest", tuple(shares), exact=True)]


CLAIMS = [
    Claim(
        "rare-bytes-oversmoothed-more",
        "4.3, Figure 4.2",
        "The lowest rank and the best model both oversmooth more where a rare byte comes next than where a frequent "
        "one does.",
        "NSMD at the ten rarest bytes less NSMD at the ten most frequent, at either rank.",
        rare_bytes_are_oversmoothed_more,
    ),
    Claim(
        "lowest-rank-worse-at-every-byte",
        "4.3, Figure 4.2",
        "The lowest rank oversmooths more than the best model at nearly every byte.",
        "Share of bytes with the higher mean NSMD at the lowest rank, above nine in ten.",
        lowest_rank_is_worse_at_nearly_every_byte,
    ),
    Claim(
        "lowest-rank-never-predicts-the-rarest",
        "4.3, Figure 4.3",
        "The lowest rank never makes one of the ten rarest bytes the most probable.",
        "Share of positions at which it does, equal to 0.",
        lowest_rank_never_predicts_the_rarest,
    ),
]
