"""The chapter of the story page."""

from oversmoothing.claims.story.answers import at_lowest
from oversmoothing.claims.story.chapters import Chapter, Chart
from studies.imposed_rank.claims import CLAIMS

WAYS = {
    "family": "learned with a narrow head",
    "plain": "learned with a narrow head W = A B",
    "matched": "learned with W = A B that starts as large as a full head",
    "backward": "learned with the rank on the gradient alone",
    "svd": "with the full model's head cut",
    "retrained": "with W = A B trained on the frozen full model",
    "normed": "with W = A B and a LayerNorm in it trained on the frozen full model",
}

CHAPTER = Chapter(
    "Ways to impose a rank",
    (
        "A rank can be imposed on a model as it learns, on its gradient alone, or after training: on the full model's "
        "head by a singular value decomposition, or by training a new head on its frozen hidden states.",
    ),
    answers={
        "imposed_rank": at_lowest("{at} the loss, in nats, is {}.", "kind", WAYS, measure="loss"),
    },
    claims=tuple(claim.id for claim in CLAIMS),
    charts=(Chart("imposed_rank", "Ways of imposing a rank", {"measure": "measure", "truth": "truth"}, series="kind"),),
    tables=("imposed_rank",),
    figures=("imposed_rank",),
)
