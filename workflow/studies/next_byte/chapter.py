"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter

CHAPTER = Chapter(
    "The next byte",
    (
        "What does each model expect after one prompt? A single prompt is an example and no measurement; the figures "
        "of each are at the end of the page.",
    ),
    tables=("next_byte",),
    figures=("oversmoothing_illustrated",),
)
