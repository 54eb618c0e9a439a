"""Evidence for the claims, and against them (tests/claims/)."""

from made_tables import around, by_rank, measured


def of_heads(listed, counts):
    text = [{"class": b, "measure": "occurrences", "value": 100.0 - b, "kind": None, "rank": None} for b in range(20)]
    rows = by_rank("unargmaxable", counts, condition="free", note=listed)
    return measured(tuple(counts), bytes=text, argmaxability=rows)


CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "low-ranks-cannot-predict-the-rarest": (
        of_heads(" ".join(f"{b:02X}" for b in range(10, 20)), {4: 10.0, 288: 0.0}),
        of_heads("0A", {4: 1.0, 288: 0.0}),
    ),
    "unargmaxable-bytes-fall": (
        of_heads("", {4: around(10), 8: around(3), 288: around(0)}),
        of_heads("", {4: around(1), 8: around(3), 288: around(0)}),
    ),
}
BROKEN = {  # what contradicts a claim that the printed means bear out
    "unargmaxable-bytes-fall": [("argmaxability", {"rank": 8}, 300.0)]
}
NOT_PRINTED = ["low-ranks-cannot-predict-the-rarest"]  # the thesis does not print which bytes are rare
