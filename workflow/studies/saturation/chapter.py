"""The chapter of the story page."""

from oversmoothing.claims.story.answers import at_ends
from oversmoothing.claims.story.chapters import Chapter
from studies.saturation.claims import CLAIMS

CHAPTER = Chapter(
    "Saturation",
    (
        "Godey et al. (2024) ask whether a narrow head makes small models end above the law of losses that larger ones "
        "follow.",
    ),
    answers={
        "saturation": at_ends(
            "How far the last loss lies above the law, the loss expected of such a model after so much text, is, in "
            "%, {}.",
            decimals=1,
            difference=True,
            measure="above_last",
        ),
    },
    claims=tuple(claim.id for claim in CLAIMS),
    terms={"law of losses": "The loss that is expected of a model of a size N that has seen an amount T of text."},
    tables=("saturation",),
    figures=("saturation",),
)
