"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter
from studies.bat_premise.claims import CLAIMS

CHAPTER = Chapter(
    "Is what BAT assumes true?",
    (
        "BAT keeps a byte only if the head leaves no way for the truth to give it nothing. That is a proof if model "
        "and truth have the same moments under the head and the truth is nowhere far above the model: how far is that "
        "from true, and what becomes of the sets where half of it is (`docs/bat.md`)?",
    ),
    claims=tuple(claim.id for claim in CLAIMS),
    tables=("bat_premise",),
    after="What decoding mends",
)
