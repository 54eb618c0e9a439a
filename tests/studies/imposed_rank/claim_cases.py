"""Evidence for the claims, and against them (tests/claims/)."""

from made_tables import around, by_rank, measured


def of_imposed(low, high, whole=1.6):
    rows = by_rank("loss", {4: around(low, 0.001), 64: around(high, 0.001)}, kind="retrained")
    return measured((), imposed_rank=[*rows, *by_rank("loss", {288: around(whole, 0.002)})])


CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "constrained-heads-lose": (of_imposed(2.1, 1.6), of_imposed(1.6, 2.1)),
    "only-low-ranks-cost": (of_imposed(2.1, 1.6), of_imposed(2.1, 1.9)),
}
