"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter
from studies.along_training.claims import CLAIMS

CHAPTER = Chapter(
    "Along training",
    ("Godey et al. (2024) ask what a narrow head does to a small model as it trains.",),
    claims=tuple(claim.id for claim in CLAIMS),
    terms={
        "singular entropy": "Divergence of the head's normalised singular values from uniform; 0 if all are equal.",
        "anisotropy": "Mean cosine between hidden states of different positions; near 1, they share a direction.",
    },
    tables=("along_training",),
    figures=(
        "along_training",
        "oversmoothing_against_loss",
        "layers_along_training",
        "head_spectra",
        "forced_along_training",
    ),
)
