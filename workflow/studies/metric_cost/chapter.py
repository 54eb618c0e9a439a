"""The chapter of the story page."""

from oversmoothing.claims.story.answers import at_ends
from oversmoothing.claims.story.chapters import Chapter
from studies.metric_cost.claims import CLAIMS
from studies.metric_cost.timed import RATIO

CHAPTER = Chapter(
    "What a metric costs",
    (
        "TBAT asks, for each byte, whether the truth may give it nothing. As published that is one linear program per "
        "byte; here all bytes of a position share one simplex tableau, with the same sets.",
    ),
    answers={
        "metric_cost": at_ends(
            "One linear program per byte takes, in the median over positions, so many times as long as one tableau for "
            "all: {}.",
            decimals=0,
            measure=RATIO,
        )
    },
    claims=tuple(claim.id for claim in CLAIMS),
    tables=("metric_cost",),
    figures=("metric_cost",),
)
