"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter

CHAPTER = Chapter(
    "When the truth is known",
    (
        "A truth is a model, and stands in for a language whose distributions nobody knows. Here text is drawn from a "
        "law whose distribution is known at every byte, and models that learn it are held against the law itself.",
    ),
    tables=("known_law",),
    figures=("known_law",),
)
