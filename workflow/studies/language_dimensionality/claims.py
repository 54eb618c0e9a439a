"""The claim about the dimensions of a language (Godey et al. 2024)."""

from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import Comparison, Missing
from studies.language_dimensionality.table import by_dimensions

NOTICEABLE = 0.1  # W-error
CONTEXTS = "contexts, in halves"  # source of the interval of the W-error


def language_needs_more(analyses: Analyses) -> list[Comparison]:
    """Compare what heads of the family's ranks and of 1,000 dimensions must lose of the language with a tenth.

    This is the W-error of the longest contexts of byte pairs without sampling noise. The W-error as counted is
    unsuitable: it is as high for a shuffled text, whose true matrix has one dimension.
    """
    wide = by_dimensions(analyses.table("language_dimensionality"))
    pairs = wide[(wide.token == "byte pair") & (wide.text == "train") & wide.w_error.notna()]
    if pairs.empty:
        raise Missing("no byte pairs were counted (`language.vocabulary`)")
    longest = pairs[(pairs.context == pairs.context.max()) & (pairs.dimensions < pairs.v)]
    known = longest.dropna(subset=["without_noise"])
    if known.empty:
        raise Missing(
            f"too little text: {longest.contexts_seen.iloc[0]:,.0f} of {longest.contexts.iloc[0]:,.0f} contexts of "
            f"{longest.context.iloc[0]} byte pairs are seen often enough (`language.seen`, `language.bytes`)"
        )
    comparisons = []
    for row in known.to_dict("records"):
        name = f"W-error without noise at {row['dimensions']} dimensions of {row['v']:.0f}"
        values = row["without_noise"], row["low"], row["high"]
        comparisons.append(Comparison(name, *values, NOTICEABLE, interval=CONTEXTS))
    return comparisons


CLAIMS = [
    Claim(
        "language-needs-more-dimensions",
        "Godey et al., 5.2",
        "The n-gram matrix of a language has more dimensions than the heads of small models.",
        "W-error of the longest contexts of byte pairs, without sampling noise, at each rank of the family and "
        "at 1,000 dimensions, above 0.1.",
        language_needs_more,
    ),
]
