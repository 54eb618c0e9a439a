"""Evidence for the claims, and against them (tests/claims/)."""

from made_tables import around, measured


def of_forced(forced=(0.61, 0.21, 0.02), kl=(0.85, 0.44, 0.28, 0.22)):
    rows = []
    for rank, part, whole in zip((4, 8, 16, 288), (*forced, 0.0), kl, strict=True):
        for measure, value in (("forced", part), ("kl", whole), ("rest", whole - part)):
            rows.append({"rank": rank, "measure": measure, "value": around(value, 0.0001)})
    return measured((4, 8, 16, 288), forced=rows)


CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "head-forces-most-at-4": (of_forced(), of_forced(forced=(0.4, 0.21, 0.02))),
    "little-is-forced-from-16": (of_forced(), of_forced(forced=(0.61, 0.21, 0.07))),
    "forced-is-the-cost-of-the-rank": (of_forced(), of_forced(forced=(0.61, 0.1, 0.02))),
}
NO_EVIDENCE = [
    ("forced-is-the-cost-of-the-rank", of_forced(kl=(0.85, 0.2, 0.28, 0.22)), "rank 8 has no clearly higher KL")
]  # and what the note says
