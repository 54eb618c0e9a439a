"""Claims about bytes that a head can never make the most probable (thesis 4.3 and appendix B)."""

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing, less
from oversmoothing.claims.measured import Measured, Rank
from oversmoothing.claims.thesis import LOW
from studies.argmaxable_classes.table import PUBLISHED_CONDITION

RAREST = 10  # bytes at the end of the frequencies (Figure 4.3)


def unargmaxable(m: Measured, rank: Rank) -> pd.Series:
    """Return the number of bytes that no input of the head makes the most probable, by seed."""
    return m.values("argmaxability", "unargmaxable", rank=rank.rank, condition=PUBLISHED_CONDITION)


def low_ranks_cannot_predict_the_rarest(m: Measured) -> list[Contrast]:
    """Count the ten rarest bytes that ranks 4 and 8 could predict from some input; 0 is expected, exactly."""
    text = m.table("bytes")
    counts = text[text.measure == "occurrences"]
    rarest = set(counts["class"][counts.value > 0].tail(RAREST))
    rows = m.table("argmaxability")
    rows = rows[(rows.measure == "unargmaxable") & (rows.condition == PUBLISHED_CONDITION)]
    found = []
    for rank in m.ranks(high=LOW):
        notes = rows.note[rows["rank"] == rank.rank].fillna("")
        able = [float(len(rarest - {int(number, 16) for number in note.split()})) for note in notes]
        found.append(Contrast(f"argmaxable among the {RAREST} rarest bytes, {rank}", tuple(able), exact=True))
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
        "low-ranks-cannot-predict-the-rarest",
        "4.3, Tables B.1 and B.2",
        "Ranks 4 and 8 could not make the rarest bytes the most probable, whatever the context.",
        "Number of the ten rarest bytes that are argmaxable in their heads, equal to 0; exact.",
        low_ranks_cannot_predict_the_rarest,
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
