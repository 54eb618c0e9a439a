"""Claims about heads of constrained rank on a frozen model (Godey et al. 2024)."""

from oversmoothing.claims.analyses import SEVERAL, Analyses
from oversmoothing.claims.choose import neighbours
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import Comparison, Missing, compare
from oversmoothing.claims.members import Member, members

SLIGHT = 0.01  # of the loss: less does not count as a cost


def constrained_heads_lose(analyses: Analyses) -> list[Comparison]:
    """Compare the loss of each retrained head with that of the next higher rank."""
    return [
        compare(analyses.loss(a), analyses.loss(b), f"loss (nats per byte), {a} against {b}", analyses.chance)
        for a, b in neighbours(_retrained(analyses), "in `retrained.ranks`")
    ]


def only_low_ranks_cost(analyses: Analyses) -> list[Comparison]:
    """Test whether the lowest constrained head costs more than slightly, and the highest does not."""
    heads = _retrained(analyses)
    if not heads:
        raise Missing("no head W = A B was retrained (`retrained.ranks`, `retrained.norm`)")
    if len(heads) < SEVERAL:
        raise Missing("it takes two ranks in `retrained.ranks`")
    trained = Member("the trained head", heads[0].trainings, heads[0].trainings)
    lowest, *_, highest = heads
    whole, low, high = (analyses.loss(member) for member in (trained, lowest, highest))
    slight = SLIGHT * whole.mean
    name = "loss (nats per byte)"
    return [
        compare(low, whole, f"{name}, {lowest} against {trained}", analyses.chance, slight),
        compare(whole, high, f"{name}, {trained} against {highest}", analyses.chance, -slight),
    ]


def _retrained(analyses: Analyses) -> list[Member]:
    return members(analyses.models, "retrained", "retrained rank")


CLAIMS = [
    Claim(
        "constrained-heads-lose",
        "Godey et al., 5.1",
        "A head of constrained rank, retrained on a frozen model, loses more, the lower its rank.",
        "Loss at each rank less that at the next; paired by window.",
        constrained_heads_lose,
    ),
    Claim(
        "only-low-ranks-cost",
        "Godey et al., 5.1",
        "The loss starts to rise only below a certain rank of the head.",
        "The lowest constrained head loses over 1 % more than the trained head, the highest no more than 1 %; paired "
        "by window.",
        only_low_ranks_cost,
    ),
]
