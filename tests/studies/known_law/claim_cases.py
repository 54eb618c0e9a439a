"""Evidence for the claims, and against them (tests/claims/)."""

from made_tables import around, measured

TEXT = {"law": "full", "sequences": 1800, "truth": "law"}


def rows(measure, by_rank):
    return [{**TEXT, "measure": measure, "rank": rank, "value": around(value)} for rank, value in by_rank.items()]


def marks(share, everywhere):
    shares = rows("rejected_above_both", {4: share, 16: share}) + rows("above_both", {4: everywhere, 16: everywhere})
    return measured((4, 16, 288), known_law=[*shares, *rows("tto", {288: 0.1})])


def adds_up(own):
    given = rows("tto", {4: 0.3, 16: 0.12, 288: 0.1})
    return measured((4, 16, 288), known_law=[*given, *rows("own_tto", {4: 0.4, 16: own, 288: 0.2})])


CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "bat-marks-what-the-bottleneck-adds": (marks(0.8, 0.2), marks(0.3, 0.5)),
    "adds-up-behind-own-text": (adds_up(0.3), adds_up(0.1)),
}
