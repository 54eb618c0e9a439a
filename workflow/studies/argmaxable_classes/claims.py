"""Claims about bytes that a head can never make the most probable (thesis 4.3 and appendix B)."""

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing, less, outranking
from oversmoothing.claims.measured import Measured, Rank
from oversmoothing.claims.thesis import LOW
from studies.argmaxable_classes.table import PUBLISHED_CONDITION

TRAINING, SCORED = "training_occurrences", "occurrences"  # of a byte in the training text, and in the windows
VALUES = 256


def unargmaxable(m: Measured, rank: Rank) -> pd.Series:
    """Return the number of bytes that no input of the head makes the most probable, by seed."""
    return m.values("argmaxability", "unargmaxable", rank=rank.rank, condition=PUBLISHED_CONDITION)


def unargmaxable_bytes_are_rare(m: Measured) -> list[Contrast]:
    """Hold the chance that an argmaxable byte is more frequent than an unargmaxable one to above a half, at 4 and 8.

    "The low-rank models are never able to assign the least frequent tokens the highest probability, regardless of the
    input." (4.3) Where the run has not counted the training text, which those tokens are rare in, the windows stand in.
    """
    text = m.table("bytes")
    measure, of = (TRAINING, "training") if (text.measure == TRAINING).any() else (SCORED, "scored")
    counts = text[text.measure == measure].set_index("class").value.reindex(range(VALUES), fill_value=0.0)
    rows = m.table("argmaxability")
    rows = rows[(rows.measure == "unargmaxable") & (rows.condition == PUBLISHED_CONDITION) & (rows.kind == "family")]
    found = []
    for rank in m.ranks(high=LOW):
        values = dict[int, float]()
        for row in rows[rows["rank"] == rank.rank].fillna({"note": ""}).itertuples():
            never = counts.index.isin([int(byte, 16) for byte in row.note.split()])
            if never.any() and not never.all():
                values[row.seed] = outranking(counts[~never], counts[never])
        if values:
            name = f"chance that an argmaxable byte is the more frequent in the {of} text, {rank}"
            found.append(less(name, pd.Series(values), above=0.5))
    if not found:
        raise Missing(f"up to rank {LOW} every byte can be predicted")
    return found


def unargmaxable_bytes_fall(m: Measured) -> list[Contrast]:
    """Contrast the number of unargmaxable bytes at each rank with that at the next, as long as there are any."""
    found = []
    for a, b in m.steps():
        first, second = unargmaxable(m, a), unargmaxable(m, b)
        if first.any() or second.any():
            found.append(less(f"unargmaxable bytes, {a} less {b}", first, second))
    if not found:
        raise Missing("every model can predict every byte")
    return found


CLAIMS = [
    Claim(
        "unargmaxable-bytes-are-rare",
        "4.3, Tables B.1 and B.2",
        "The bytes that ranks 4 and 8 could never make the most probable are rarer than those that they could.",
        "Chance that an argmaxable byte is more frequent in the training text than an unargmaxable one, over all "
        "pairs, above one half; equal counts count half. Without counts of the training text, in the scored text.",
        unargmaxable_bytes_are_rare,
    ),
    Claim(
        "unargmaxable-bytes-fall",
        "B, Tables B.1 and B.2",
        "The number of bytes that a model can never predict falls with rank.",
        "Unargmaxable bytes at each rank less those at the next, as long as there are any. At full rank there are none "
        "by construction.",
        unargmaxable_bytes_fall,
    ),
]
