"""Claims that only a known law can test: what BAT marks, what adds up behind a model's own text (thesis 4.1.6, 5.3)."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing, less
from oversmoothing.claims.measured import Measured
from oversmoothing.claims.thesis import MODERATE
from studies.known_law.table import OF_OWN

HALF = 0.5


def texts(m: Measured) -> Iterator[tuple[dict[str, object], list[int], int]]:
    """Yield each text, a law and a number of sequences, with the lower ranks and the highest, which stands for full."""
    members = m.table("known_law")
    members = members[members.seed.notna()]
    for (law, sequences), part in members.groupby(["law", "sequences"]):
        ranks = sorted(int(rank) for rank in part["rank"].unique())
        yield {"law": law, "sequences": sequences}, ranks[:-1], ranks[-1]


def shown(m: Measured, measure: str, text: dict[str, object], rank: int) -> pd.Series:
    """Return a measure of the members of a rank that learned a text, against the law, by seed."""
    of_seeds = m.table("known_law").dropna(subset="seed")
    return Measured({"known_law": of_seeds}, m.family).values("known_law", measure, rank=rank, **text)


def what_bat_rejects_is_the_ranks(m: Measured) -> list[Contrast]:
    """Contrast the share of what BAT rejects that exceeds law and full rank: with one half, and with that of all."""
    found = []
    for text, ranks, _ in texts(m):
        for rank in ranks:
            share = shown(m, "rejected_above_both", text, rank)
            name = f"share of the rejected probability above the law and full rank, rank {rank}, {_named(text)}"
            found.append(less(name, share, above=HALF))
            found.append(less(f"{name}, less that of all probability", share, shown(m, "above_both", text, rank)))
    return found


def leak_adds_up(m: Measured) -> list[Contrast]:
    """Contrast TTO above full rank behind a model's own text with that behind the law's, from rank 16 on."""
    found = []
    for text, ranks, full in texts(m):
        for rank in (rank for rank in ranks if rank >= MODERATE):
            own, given = (
                shown(m, measure, text, rank) - shown(m, measure, text, full) for measure in (f"{OF_OWN}tto", "tto")
            )
            name = f"TTO, rank {rank} less full rank, {_named(text)}"
            found.append(less(f"{name}, behind its own text", own))
            found.append(less(f"{name}, behind its own text less behind the law's", own, given))
    if not found:
        raise Missing(f"no member of a rank from {MODERATE} on learned the text of a law beside full rank")
    return found


def _named(text: dict[str, object]) -> str:
    return f"law {text['law']} with {text['sequences']:,} sequences"


CLAIMS = [
    Claim(
        "bat-marks-what-the-bottleneck-adds",
        "4.1.6",
        "What BAT rejects is oversmoothed because of the bottleneck.",
        "Under a known law, at each rank below the highest: the share of the rejected probability that exceeds both, "
        "the law and the highest rank of the same seed, above one half; and above that share of all probability.",
        what_bat_rejects_is_the_ranks,
    ),
    Claim(
        "adds-up-behind-own-text",
        "5.3",
        "Moderate ranks oversmooth over longer contexts that they have partly written, where effects add up.",
        "Under a known law, at each rank from 16 on: TTO behind the model's own text less full rank's behind its own, "
        "above 0; and above the same difference behind the law's text.",
        leak_adds_up,
    ),
]
