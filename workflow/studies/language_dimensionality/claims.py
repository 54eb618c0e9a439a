"""The claim about the dimensions of a language (Godey et al. 2024)."""

from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import Comparison, Missing

NOTICEABLE = 0.1  # W-error
CONTEXTS = "contexts, in halves"  # source of the interval of the W-error


def language_needs_more(analyses: Analyses) -> list[Comparison]:
    """Compare what heads of the family's ranks and of 1,000 dimensions must lose of the language with a tenth.

    This is the W-error of the longest contexts of byte pairs without sampling noise. The W-error as counted is
    unsuitable: it is as high for a shuffled text, whose true matrix has one dimension.
    """
    table = analyses.table("language_dimensionality")
    own = table[(table.token == "byte pair") & (table.text == "train") & table.w_error.notna()]
    if own.empty:
        raise Missing("no byte pairs were counted (`language.vocabulary`)")
    own = own[(own.context == own.context.max()) & (own.dimensions < own.v)]
    known = own.dropna(subset=["without_noise"])
    if known.empty:
        raise Missing(
            f"too little text: {own.contexts_seen.iloc[0]:,} of {own.contexts.iloc[0]:,} contexts of "
            f"{own.context.iloc[0]} byte pairs are seen often enough (`language.seen`, `language.bytes`)"
        )
    return [
        Comparison(
            f"W-error without noise at {row['dimensions']} dimensions of {row['v']}",
            row["without_noise"],
            row["without_noise_low"],
            row["without_noise_high"],
            NOTICEABLE,
            interval=CONTEXTS,
        )
        for row in known.to_dict("records")
    ]


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
