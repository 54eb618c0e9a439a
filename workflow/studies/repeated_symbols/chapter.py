"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter

CHAPTER = Chapter(
    "Repeated symbols",
    (
        "A narrow model learns to repeat one of v symbols ever more slowly as v grows. Godey and Artzi (2026) blame "
        "the head, which compresses the gradient; Murugan (2026) the number of independent draws of each symbol.",
    ),
    tables=("repeated_symbols",),
    figures=("repeated_symbols",),
)
