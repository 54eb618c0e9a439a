"""The thesis's findings on heads truncated by SVD, as claims that can fail (7.1)."""

from itertools import pairwise, product

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, less
from oversmoothing.claims.measured import Measured
from oversmoothing.claims.thesis import MAIN, score
from oversmoothing.scores.catalogue.metrics import METRICS


def truncated(m: Measured, metric: str, rank: int) -> pd.Series:
    """Return a metric of the head truncated to a rank, by seed."""
    return m.values("svd", metric, kind="svd", rank=rank, decoding="pure")


def svd_ranks(m: Measured) -> list[int]:
    """Return the ranks of truncated heads, ascending."""
    return sorted(int(rank) for rank in m.table("svd")["rank"].dropna().unique())


def truncation_misleads_bat(m: Measured) -> list[Contrast]:
    """Hold what BAT rejects with a truncated head, and not with the whole one, to above 0 at each rank."""
    table = m.table("tbat_approximation").dropna(subset="approximation")
    return [
        less(
            f"rejected by the head truncated to {rank} alone, {of}",
            m.values("tbat_approximation", "excess", rank=of.rank, approximation=rank),
        )
        for of in m.ranks()
        for rank in sorted(set(table.approximation[table["rank"] == of.rank].astype(int)))
        if rank < of.rank
    ]


CLAIMS = [
    Claim(
        "svd-monotone",
        "7.1, Tables 7.1 and 7.2",
        "Oversmoothing rises with each step by which the head's SVD is truncated.",
        "Each rank of the SVD less the next, within each training.",
        lambda m: [
            less(f"{METRICS[metric].label}, SVD rank {a} less {b}", truncated(m, metric, a), truncated(m, metric, b))
            for metric, (a, b) in product(MAIN, pairwise(svd_ranks(m)))
        ],
    ),
    Claim(
        "svd-worse-than-learned",
        "7.1, Tables 4.1, 4.2, 7.1, 7.2",
        "A head truncated by SVD oversmooths more than a bottleneck learned at the same rank.",
        "The truncated head less the trained model, at each rank that both have.",
        lambda m: [
            less(f"{METRICS[metric].label}, SVD {own} less learned", truncated(m, metric, rank), score(m, metric, own))
            for metric, rank in product(MAIN, svd_ranks(m))
            for own in m.family
            if own.rank == rank and not own.full
        ],
    ),
    Claim(
        "svd-misleads-bat",
        "7.1",
        "To truncate the head before BAT sampling may be detrimental.",
        "Probability of bytes that BAT rejects with a truncated head and would accept with the whole one, above 0, at "
        "each rank and truncation. That texts get worse by it is not tested.",
        truncation_misleads_bat,
    ),
    Claim(
        "svd-more-uniform",
        "7.1, Figure 7.1",
        "The more the head's SVD is truncated, the more uniform are the distributions.",
        "Entropy at each rank of the SVD less that at the next, within each training.",
        lambda m: [
            less(
                f"entropy (bits), SVD rank {a} less {b}",
                truncated(m, "entropy_difference", b),
                truncated(m, "entropy_difference", a),
            )
            for a, b in pairwise(svd_ranks(m))
        ],
    ),
]
