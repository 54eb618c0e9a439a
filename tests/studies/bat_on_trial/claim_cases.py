"""Evidence for the claims, and against them (tests/claims/)."""

from made_tables import around, by_rank, measured


def of_bat(cut):
    rejected = {"bat": {4: around(0.3), 8: around(0.2)}, "cut": {4: around(cut), 8: around(cut, 0.02)}}
    rows = [row for name, ranks in rejected.items() for row in by_rank("rejected_mass", ranks, decoding=name)]
    return measured((4, 8), bat_premise=rows)


CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "bat-rejects-more-than-a-cut": (of_bat(0.1), of_bat(0.5))
}
