"""Our claim about what BAT rejects, beside a cut of the same size."""

from oversmoothing.claims.choose import of_rank
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import Comparison
from oversmoothing.claims.evidence import Run

LOW = (4, 8)
LIKE = "tbat"  # the metric whose margin between trainings is taken: it too is what BAT rejects


def bat_rejects_more_than_a_cut(run: Run) -> list[Comparison]:
    """Compare what BAT rejects of the truth's nucleus with what the cut of the same size rejects, at ranks 4 and 8."""
    return [
        run.compare(
            run.mean("bat_premise", "rejected_mass", model, LIKE),
            run.mean("bat_premise", "top_rejected_mass", model, LIKE),
            f"probability of the truth's nucleus that is rejected, by BAT against the cut, {model}",
        )
        for model in (of_rank(run.family, rank) for rank in LOW)
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
        "within each model; paired by window. Between trainings the margin is that of TBAT.",
        bat_rejects_more_than_a_cut,
    ),
]
