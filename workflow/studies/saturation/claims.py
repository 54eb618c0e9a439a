"""The claim about saturation (Godey et al. 2024): where small models end."""

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing
from oversmoothing.claims.measured import Measured


def small_models_end_above_the_fit(m: Measured) -> list[Contrast]:
    """Hold the last loss of each arm smaller than all those that the law is fitted to, in % above it, to above 0."""
    table = m.table("saturation")
    ends = table[table.measure == "above_last"].set_index("model")
    fitted, parameters = (table[table.measure == name].set_index("model").value for name in ("fitted", "parameters"))
    if not fitted.any():
        raise Missing("the law is fitted on no model (`saturation.fitted`)")
    smaller = (fitted == 0) & (parameters < parameters[fitted == 1].min())
    ends = ends[smaller[ends.index]]
    if ends.empty:
        raise Missing("no model is smaller than those that the law is fitted on (`saturation.fitted`)")
    if ends.value.isna().any():
        raise Missing(str(ends.note[ends.value.isna()].iloc[0]))
    return [Contrast(f"last loss above the law (%), {arm}", tuple(values)) for arm, values in ends.groupby("arm").value]


CLAIMS = [
    Claim(
        "small-models-end-above-the-fit",
        "Godey et al., 3",
        "Small models end above the loss predicted by a law fitted to larger models; theirs by about 8 %.",
        "Final loss of each model smaller than all those that the law is fitted to, in % above the law, above 0.",
        small_models_end_above_the_fit,
    ),
]
