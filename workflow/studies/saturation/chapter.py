"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter
from studies.saturation.claims import CLAIMS

CHAPTER = Chapter(
    "Saturation",
    (
        "Godey et al. (2024) ask whether a narrow head makes small models end above the law of losses that larger ones "
        "follow.",
    ),
    claims=tuple(claim.id for claim in CLAIMS),
    terms={"law of losses": "The loss that is expected of a model of a size N that has seen an amount T of text."},
    tables=("saturation",),
    figures=("saturation",),
)
