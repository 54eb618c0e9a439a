"""Our claim about what BAT rejects, beside a cut of the same size."""

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, less
from oversmoothing.claims.measured import Measured
from oversmoothing.claims.thesis import LOW

OF_MODEL = {"condition": None, "less": None}


def bat_rejects_more_than_a_cut(m: Measured) -> list[Contrast]:
    """Contrast what BAT rejects of the truth's nucleus with what the cut of the same size rejects, at ranks 4 and 8."""
    return [
        less(
            f"probability of the truth's nucleus that is rejected, by BAT less by the cut, {rank}",
            *(
                m.values("bat_premise", "rejected_mass", decoding=by, rank=rank.rank, **OF_MODEL)
                for by in ("bat", "cut")
            ),
        )
        for rank in m.ranks(high=LOW)
    ]


PLACE = "docs/bat.md"
HEADINGS = {PLACE: "Beyond the thesis: what BAT rejects"}
CLAIMS = [
    Claim(
        "bat-rejects-more-than-a-cut",
        PLACE,
        "At ranks 4 and 8 BAT rejects more of the truth's nucleus than a cut that keeps as many of the most probable "
        "bytes.",
        "Probability that the truth gives to the bytes of its nucleus that BAT rejects, less the same of the cut, "
        "within each model.",
        bat_rejects_more_than_a_cut,
    ),
]
