"""Claims about heads of constrained rank on a frozen model (Godey et al. 2024)."""

from itertools import pairwise

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing, less
from oversmoothing.claims.measured import Measured

SLIGHT = 0.01  # of the loss: less does not count as a cost


def loss(m: Measured, rank: int) -> pd.Series:
    """Return the loss on the windows of the heads retrained at a rank, by the seed of their trunk."""
    return m.values("imposed_rank", "loss", kind="retrained", rank=rank)


def retrained(m: Measured) -> list[int]:
    """Return the ranks of retrained heads W = A B, of which there must be two."""
    table = m.table("imposed_rank")
    ranks = sorted(int(rank) for rank in table["rank"][table.kind == "retrained"].dropna().unique())
    if len(ranks) < 2:
        raise Missing("it takes two ranks in `retrained.ranks`, without a norm (`retrained.norm`)")
    return ranks


def constrained_heads_lose(m: Measured) -> list[Contrast]:
    """Contrast the loss of each retrained head with that of the next higher rank."""
    return [
        less(f"loss (nats per byte), retrained rank {a} less {b}", loss(m, a), loss(m, b))
        for a, b in pairwise(retrained(m))
    ]


def only_low_ranks_cost(m: Measured) -> list[Contrast]:
    """Test whether the lowest constrained head costs more than slightly, and the highest does not."""
    lowest, *_, highest = retrained(m)
    table = m.table("imposed_rank")
    whole = m.values("imposed_rank", "loss", rank=int(table["rank"][table.kind == "family"].max()))
    slight, name = SLIGHT * whole.mean(), "loss (nats per byte), retrained rank"
    return [
        less(f"{name} {lowest} less the trained head", loss(m, lowest), whole, above=slight),
        less(f"{name} {highest} less the trained head", loss(m, highest), whole, above=-float("inf"), below=slight),
    ]


CLAIMS = [
    Claim(
        "constrained-heads-lose",
        "Godey et al., 5.1",
        "A head of constrained rank, retrained on a frozen model, loses more, the lower its rank.",
        "Loss at each rank less that at the next.",
        constrained_heads_lose,
    ),
    Claim(
        "only-low-ranks-cost",
        "Godey et al., 5.1",
        "The loss starts to rise only below a certain rank of the head.",
        "The lowest constrained head loses over 1 % more than the trained head, the highest no more than 1 %.",
        only_low_ranks_cost,
    ),
]
