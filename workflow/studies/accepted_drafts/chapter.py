"""The chapter of the story page."""

from oversmoothing.claims.story.answers import at_ends
from oversmoothing.claims.story.chapters import Chapter

CHAPTER = Chapter(
    "Drafts that the truth accepts",
    (
        "In speculative sampling a model drafts and the truth keeps or rejects: `acceptance` is how often it keeps, "
        "with both decoded in the same way.",
    ),
    answers={
        "acceptance": at_ends(
            "The truth keeps a drafted byte with probability {}, with both decoded in pure sampling.",
            measure="acceptance",
            decoding="pure",
        )
    },
    tables=("acceptance",),
    after="What decoding mends",
)
