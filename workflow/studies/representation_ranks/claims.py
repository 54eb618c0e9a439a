"""Claims about effective ranks (thesis 7.2)."""

from itertools import product

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing, less, within
from oversmoothing.claims.measured import Measured, Rank
from oversmoothing.claims.thesis import LOW, TOLERANCE
from studies.representation_ranks.table import PUBLISHED_MEASURE, REPRESENTATIONS


def used(m: Measured, representation: str, rank: Rank) -> pd.Series:
    """Return the effective rank of a representation, by seed."""
    return m.values("effective_rank", PUBLISHED_MEASURE, rank=rank.rank, representation=representation)


def moderate(m: Measured) -> list[Rank]:
    """Return the ranks above 8 and below the full one."""
    ranks = [rank for rank in m.ranks(LOW + 1) if rank != m.full()]
    if not ranks:
        raise Missing(f"no model stands for a rank above {LOW} and below the full one")
    return ranks


def low_ranks_are_degraded(m: Measured) -> list[Contrast]:
    """Contrast the effective ranks of probabilities and pre-bottleneck vectors at full rank with those at 4 and 8."""
    return [
        less(f"{REPRESENTATIONS[name]}, {m.full()} less {rank}", used(m, name, m.full()), used(m, name, rank))
        for name, rank in product(("probabilities", "pre"), m.ranks(high=LOW))
    ]


def moderate_ranks_keep_probabilities(m: Measured) -> list[Contrast]:
    """Hold probabilities and pre-bottleneck vectors between rank 8 and full to within a tenth of full's."""
    return [
        within(
            f"{REPRESENTATIONS[name]}, {rank} less {m.full()}", used(m, name, rank), used(m, name, m.full()), TOLERANCE
        )
        for name, rank in product(("probabilities", "pre"), moderate(m))
    ]


def logits_and_post_stay_below_full(m: Measured) -> list[Contrast]:
    """Hold logits and post-bottleneck vectors between rank 8 and full to over a tenth below full's.

    The effective rank of a matrix cannot exceed its rank; where this alone decides, there is nothing to contrast.
    """
    found = []
    for name, rank in product(("logits", "post"), moderate(m)):
        full = used(m, name, m.full())
        if rank.rank >= (1 - TOLERANCE) * full.mean():
            label = f"{REPRESENTATIONS[name]}, {m.full()} less {rank}"
            found.append(less(label, full, used(m, name, rank), TOLERANCE * full.mean()))
    if not found:
        raise Missing("every rank lies below the full model's effective ranks, so that it cannot be otherwise")
    return found


CLAIMS = [
    Claim(
        "low-ranks-degraded",
        "7.2, Table 7.3",
        "At ranks 4 and 8 hidden states and probabilities use fewer dimensions than at full rank.",
        "Effective rank of probabilities and of what enters the bottleneck: full rank less each of the two.",
        low_ranks_are_degraded,
    ),
    Claim(
        "moderate-ranks-keep-probabilities",
        "7.2, Table 7.3",
        "At moderate ranks hidden states and probabilities use about as many dimensions as at full rank.",
        "Effective rank of probabilities and of what enters the bottleneck at each rank between 8 and full: "
        "within a tenth of full rank's (equivalence).",
        moderate_ranks_keep_probabilities,
    ),
    Claim(
        "logits-stay-below-full",
        "7.2, Table 7.3",
        "At moderate ranks logits and what leaves the bottleneck use fewer dimensions than at full rank.",
        "Effective rank of logits and of what leaves the bottleneck: full rank less each rank between 8 and "
        "full, above a tenth of full rank's. An effective rank cannot exceed the rank; where that alone decides, "
        "there is no contrast.",
        logits_and_post_stay_below_full,
    ),
]
