"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter
from studies.along_training.claims import CLAIMS
from studies.along_training.finding import opening

CHAPTER = Chapter(
    "Do models of equal loss leak alike?",
    (
        "Each line is a training and each point a step of it, from right to left; the last is ringed. Where the lines "
        "of two ranks coincide, models of one loss leak alike, whatever their rank.",
        "Godey et al. (2024) ask what else a narrow head does to a small model as it trains.",
    ),
    answers={"along_training": opening},
    picture="oversmoothing_against_loss",
    claims=tuple(claim.id for claim in CLAIMS),
    terms={
        "singular entropy": "Divergence of the head's normalised singular values from uniform; 0 if all are equal.",
        "anisotropy": "Mean cosine between hidden states of different positions; near 1, they share a direction.",
    },
    tables=("along_training", "other_models"),
    figures=("along_training", "layers_along_training", "head_spectra", "forced_along_training", "other_models"),
    after="Oversmoothing",
)
