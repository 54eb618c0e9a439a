"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter

CHAPTER = Chapter(
    "Drafts that the truth accepts",
    (
        "In speculative sampling a model drafts and the truth keeps or rejects: `acceptance` is how often it keeps, "
        "with both decoded in the same way.",
    ),
    tables=("acceptance",),
    after="What decoding mends",
)
