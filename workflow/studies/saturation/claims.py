"""Claims about saturation (Godey et al. 2024): where small models end, and what comes with a loss that rises again."""

from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import RESIDUALS, Comparison, Missing

SATURATED = 0.01  # of the loss: a final loss this far above its lowest is saturation
MARKED = 0.1  # of a value: smaller changes do not count as a jump


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


def anisotropy_rises_at_saturation(analyses: Analyses) -> list[Comparison]:
    """Test whether the last block of a model that saturates ends more anisotropic than it was at the lowest loss."""
    return _after_the_best(analyses, f"anisotropy {analyses.blocks}", "anisotropy of the last block")


def singular_entropy_jumps_at_saturation(analyses: Analyses) -> list[Comparison]:
    """Test whether the singular entropy of a model that saturates ends above its value at the lowest loss."""
    return _after_the_best(analyses, "singular_entropy", "singular entropy (nats)")


def _after_the_best(analyses: Analyses, measure: str, name: str) -> list[Comparison]:
    found = []
    for member in analyses.several_ranks()[:-1]:
        for model in member.models:
            along = analyses.along(model)
            if along["loss"].iloc[-1] > (1 + SATURATED) * along["loss"].min():
                best, last = float(along[measure][along["loss"].idxmin()]), float(along[measure].iloc[-1])
                bound = MARKED * abs(best)
                change, of = last - best, f"{name}, at the end less at the lowest loss, {model}"
                found.append(Comparison(of, change, change, change, bound))
    if not found:
        raise Missing(f"no model saturates: no loss ends more than {SATURATED:.0%} above its lowest")
    return found


CLAIMS = [
    Claim(
        "small-models-end-above-the-fit",
        "Godey et al., 3",
        "Small models end above the loss predicted by a law fitted to larger models; theirs by about 8 %.",
        "Final loss of each model smaller than all those that the law is fitted to, in % above the law, above 0.",
        small_models_end_above_the_fit,
    ),
    Claim(
        "anisotropy-rises-at-saturation",
        "Godey et al., 4.1",
        "Where a small model saturates, the anisotropy of its last layer jumps up.",
        "In each model whose loss ends above its lowest: anisotropy at the end less at the lowest loss, above a tenth "
        "of it.",
        anisotropy_rises_at_saturation,
    ),
    Claim(
        "singular-entropy-jumps-at-saturation",
        "Godey et al., 4.2",
        "Where a small model saturates, the singular entropy of its head jumps up.",
        "In each model whose loss ends above its lowest: singular entropy at the end less at the lowest loss, above a "
        "tenth of it.",
        singular_entropy_jumps_at_saturation,
    ),
]
