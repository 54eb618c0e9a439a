"""The chapter of the story page."""

from oversmoothing.claims.story.answers import at_ends
from oversmoothing.claims.story.chapters import Chapter
from studies.representation_ranks.claims import CLAIMS

CHAPTER = Chapter(
    "How many dimensions the models use",
    (
        "Hidden states, logits and probabilities of a model are rows of matrices. Their effective rank says how many "
        "directions these rows use.",
    ),
    answers={
        "effective_rank": at_ends(
            "Hidden states before the bottleneck have an effective rank, the number of directions they use, of {}. "
            "It has no interval.",
            decimals=0,
            measure="effective_rank",
            representation="pre",
        )
    },
    claims=tuple(claim.id for claim in CLAIMS),
    terms={"effective rank": "exp of the entropy of a matrix's singular values, as shares of their sum."},
    tables=("effective_rank",),
    after="Heads cut to a lower rank",
)
