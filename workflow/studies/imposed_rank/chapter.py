"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter, Chart
from studies.imposed_rank.claims import CLAIMS

CHAPTER = Chapter(
    "Ways to impose a rank",
    (
        "A rank can be imposed on a model as it learns, on its gradient alone, or after training: on the full model's "
        "head by a singular value decomposition, or by training a new head on its frozen hidden states.",
    ),
    claims=tuple(claim.id for claim in CLAIMS),
    charts=(Chart("imposed_rank", "Ways of imposing a rank", {"measure": "measure", "truth": "truth"}, series="kind"),),
    tables=("imposed_rank",),
    figures=("imposed_rank",),
)
