"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter

CHAPTER = Chapter(
    "How many dimensions a language has",
    ("Godey et al. (2024) ask how much of the n-grams of a text a head of few dimensions must lose.",),
    terms={"W-error": "The share of the matrix of contexts and next tokens that no matrix of d dimensions represents."},
    tables=("language_dimensionality",),
    figures=("language_spectrum",),
)
