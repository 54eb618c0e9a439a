"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter

CHAPTER = Chapter(
    "Other people's models",
    ("What Godey et al. (2024) saw in the small models of the Pythia family, looked for in other published models.",),
    tables=("other_models",),
    figures=("other_models",),
)
