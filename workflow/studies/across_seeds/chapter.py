"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter

CHAPTER = Chapter(
    "What holds across seeds",
    (
        "Two trainings differ by chance even at one rank. With several seeds, ranks are compared seed by seed, and two "
        "models that differ in nothing but their seed show how much leaks by chance alone.",
    ),
    tables=("across_seeds",),
    figures=("across_seeds",),
)
