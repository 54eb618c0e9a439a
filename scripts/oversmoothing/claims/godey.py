"""Claims of Godey et al. (2024) about constrained heads."""

from oversmoothing.claims.analyses import SEVERAL, Analyses
from oversmoothing.claims.choose import neighbours
from oversmoothing.claims.comparison import Comparison, Missing, compare

SLIGHT = 0.01  # of the loss: less does not count as a cost


def constrained_heads_lose(analyses: Analyses) -> list[Comparison]:
    """Compare the loss of each retrained head with that of the next higher rank."""
    return [
        compare(analyses.loss(a), analyses.loss(b), f"loss (nats per byte), {a} against {b}", analyses.chance)
        for a, b in neighbours(analyses.retrained, "in `retrained.ranks`")
    ]


def only_low_ranks_cost(analyses: Analyses) -> list[Comparison]:
    """Test whether the lowest constrained head costs more than slightly, and the highest does not."""
    trained = analyses.trained
    if len(analyses.retrained) < SEVERAL:
        raise Missing("it takes two ranks in `retrained.ranks`")
    lowest, *_, highest = analyses.retrained
    own, low, high = (analyses.loss(member) for member in (trained, lowest, highest))
    slight = SLIGHT * own.mean
    name = "loss (nats per byte)"
    return [
        compare(low, own, f"{name}, {lowest} against {trained}", analyses.chance, slight),
        compare(own, high, f"{name}, {trained} against {highest}", analyses.chance, -slight),
    ]
