"""Evidence for the claims, and against them (tests/claims/)."""

from made_tables import around, by_rank, measured


def of_bat(cut):
    rows = by_rank("rejected_mass", {4: around(0.3), 8: around(0.2)})
    return measured((4, 8), bat_premise=rows + by_rank("top_rejected_mass", {4: around(cut), 8: around(cut, 0.02)}))


CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "bat-rejects-more-than-a-cut": (of_bat(0.1), of_bat(0.5))
}
