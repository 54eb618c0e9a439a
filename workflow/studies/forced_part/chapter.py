"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter
from studies.forced_part.claims import CLAIMS
from studies.forced_part.finding import opening

CHAPTER = Chapter(
    "Forced, or not learned?",
    (
        "A head W maps a hidden vector h to the logits W h, so unless it has full rank it can give only some "
        "distributions, whatever h is; at each position one of them, q*, is the nearest to the truth's in the "
        "sense of KL. For every model that ends in this head, the KL to the truth is that of q*, which is forced, "
        "plus the divergence of the model from q*, the rest. This is an identity, not an estimate, and the error "
        "of the computed q* has a proved bound (`docs/forced.md`).",
        "Limits: another head of the same rank may force less, because q* is the best for this W and this truth, "
        "which is itself a model with errors. Only KL is split in this way: TTO of q* stands beside TTO of the "
        "model for comparison, and at single positions it can be the higher one. A LayerNorm before the head also "
        "fixes the length of what enters it, before its gains: norm and head together force at least what the bars "
        "show, and at most what the triangles show, where there are any; they are means over fewer positions.",
    ),
    answers={"forced": opening},
    picture="forced",
    claims=tuple(claim.id for claim in CLAIMS),
    tables=("forced", "best_head", "forced_heads"),
    after="Oversmoothing",
)
