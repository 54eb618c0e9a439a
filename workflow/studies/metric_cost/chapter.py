"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter
from studies.metric_cost.claims import CLAIMS

CHAPTER = Chapter(
    "What a metric costs",
    (
        "TBAT asks, for each byte, whether the truth may give it nothing. As published that is one linear program per "
        "byte; here all bytes of a position share one simplex tableau, with the same sets.",
    ),
    claims=tuple(claim.id for claim in CLAIMS),
    tables=("metric_cost",),
    figures=("metric_cost",),
)
