"""Evidence for the claims, and against them (tests/claims/)."""

from made_tables import around, by_rank, measured


def of_heads(listed, counts, measure="occurrences"):
    text = [{"class": b, "measure": measure, "value": 300.0 - b, "kind": None, "rank": None} for b in range(256)]
    rows = by_rank(
        "unargmaxable", {rank: around(count) for rank, count in counts.items()}, condition="free", note=listed
    )
    return measured(tuple(counts), bytes=text, argmaxability=rows)


CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "unargmaxable-bytes-are-rare": (
        of_heads(" ".join(f"{b:02X}" for b in range(200, 256)), {4: 56, 288: 0}),
        of_heads("00 01", {4: 2, 288: 0}, "training_occurrences"),
    ),
    "unargmaxable-bytes-fall": (
        of_heads("", {4: 10, 8: 3, 288: 0}),
        of_heads("", {4: 1, 8: 3, 288: 0}),
    ),
}
BROKEN = {  # what contradicts a claim that the printed means bear out
    "unargmaxable-bytes-fall": [("argmaxability", {"rank": 8}, 300.0)]
}
NOT_PRINTED = ["unargmaxable-bytes-are-rare"]  # the thesis does not print how frequent bytes are
NO_EVIDENCE = [("unargmaxable-bytes-are-rare", of_heads("", {4: 0, 288: 0}), "every byte can be predicted")]
