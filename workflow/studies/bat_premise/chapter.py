"""The chapter of the story page."""

from oversmoothing.claims.story.answers import at_ends, at_lowest, together
from oversmoothing.claims.story.chapters import Chapter
from studies.bat_premise.claims import CLAIMS

CHAPTER = Chapter(
    "Is what BAT assumes true?",
    (
        "BAT, the basis-aware threshold, keeps a byte only if the head leaves no way for the truth to give it nothing. "
        "That is a proof if model and truth have the same moments under the head and the truth is nowhere far above "
        "the model: how far is that from true, and what becomes of the sets where half of it is (`docs/bat.md`)?",
    ),
    answers={
        "bat_premise": together(
            at_ends(
                "That the truth gives no byte far more than the model does, as BAT assumes, is false at a share of "
                "positions of {}.",
                measure="exceeded",
            ),
            at_lowest(
                "Of the truth's nucleus, the few bytes that it finds probable, probability is rejected {at}: {}.",
                "measure",
                {"rejected_mass": "by BAT", "top_rejected_mass": "by a cut that keeps as many bytes, the likeliest"},
            ),
        )
    },
    claims=tuple(claim.id for claim in CLAIMS),
    tables=("bat_premise",),
    after="What decoding mends",
)
