"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter

CHAPTER = Chapter(
    "Expressivity or optimisation",
    (
        "A head of low rank limits what can be expressed, and it limits the gradient from which the rest of the "
        "model learns. Godey and Artzi (2026) hold the second for the cause, Murugan (2026) does not. With several "
        "seeds and arms (`config/gradient.yaml`), `paired_ranks` says what a rank costs on the gradient alone, on "
        "the logits alone and on both; the costs need not add up.",
    ),
    tables=("paired_ranks", "gradient_claims", "gradient"),
    figures=("paired_ranks", "gradient"),
)
