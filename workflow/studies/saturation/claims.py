"""The claim about saturation (Godey et al. 2024): where small models end."""

from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import RESIDUALS, Comparison, Missing


def small_models_end_above_the_fit(analyses: Analyses) -> list[Comparison]:
    """Test whether each model smaller than all those that the law is fitted to ends above it."""
    table = analyses.table("saturation")
    own = table[table.quantity == "above_last"]
    fitted = own.fitted.astype(bool)
    if not fitted.any():
        raise Missing("the law is fitted on no model (`saturation.fitted`)")
    own = own[~fitted & (own.parameters < own.parameters[fitted].min())]
    if own.empty:
        raise Missing("no model is smaller than those that the law is fitted on (`saturation.fitted`)")
    if own.value.isna().any():
        raise Missing(str(own.note[own.value.isna()].iloc[0]))
    return [
        Comparison(
            f"last loss above the law (%), {row['model']}", row["value"], row["low"], row["high"], interval=RESIDUALS
        )
        for row in own.to_dict("records")
    ]


CLAIMS = [
    Claim(
        "small-models-end-above-the-fit",
        "Godey et al., 3",
        "Small models end above the loss predicted by a law fitted to larger models; theirs by about 8 %.",
        "Final loss of each model smaller than all those that the law is fitted to, in % above the law, above 0.",
        small_models_end_above_the_fit,
    ),
]
