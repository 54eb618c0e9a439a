"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter

CHAPTER = Chapter(
    "Which method keeps more for the same leak",
    (
        "Any decoding method leaks less if it cuts more. So methods are compared over all their settings: what is "
        "kept of the truth's nucleus at a given leak.",
    ),
    tables=("frontier",),
    figures=("frontier_1", "frontier_1.5"),
    after="What decoding mends",
)
