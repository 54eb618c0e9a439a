"""Claims about effective ranks (thesis 7.2), and how far one training is from the next in them."""

from functools import cache

import pandas as pd

from oversmoothing.claims.choose import EXTREME, beyond, extreme, full_rank
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import Comparison, Missing, Value
from oversmoothing.claims.evidence import Evidence, Margin, Run, Source
from oversmoothing.claims.members import Member
from oversmoothing.claims.models import TOLERANCE, alike
from oversmoothing.claims.published import Published, cell
from oversmoothing.store.parquet import read_table
from studies.representation_ranks.table import PUBLISHED_MEASURE, REPRESENTATIONS


def low_ranks_are_degraded(evidence: Evidence) -> list[Comparison]:
    """Compare the effective ranks of probabilities and pre-bottleneck vectors at full rank with those at 4 and 8."""
    full = full_rank(evidence.family)
    return [
        _more(evidence, representation, full, member)
        for representation in ("probabilities", "pre")
        for member in extreme(evidence.family)
    ]


def moderate_ranks_keep_probabilities(evidence: Evidence) -> list[Comparison]:
    """Test whether probabilities and pre-bottleneck vectors between rank 8 and full are within a tenth of full's."""
    full = full_rank(evidence.family)
    compared = []
    for representation in ("probabilities", "pre"):
        for member in _moderate(evidence, full):
            a, b = (evidence.value(EFFECTIVE_RANK, m, representation) for m in (member, full))
            compared += alike(evidence, a, b, REPRESENTATIONS[representation], str(member), str(full))
    return compared


def logits_and_post_stay_below_full(evidence: Evidence) -> list[Comparison]:
    """Test whether logits and post-bottleneck vectors between rank 8 and full are over a tenth below full's.

    The effective rank of a matrix cannot exceed its rank; where this alone decides, there is nothing to compare.
    """
    full = full_rank(evidence.family)
    compared = []
    for representation in ("logits", "post"):
        of_full = evidence.value(EFFECTIVE_RANK, full, representation).mean
        for member in _moderate(evidence, full):
            if member.rank is not None and member.rank >= (1 - TOLERANCE) * of_full:
                compared.append(_more(evidence, representation, full, member, TOLERANCE * of_full))
    if not compared:
        raise Missing("every rank lies below the full model's effective ranks, so that it cannot be otherwise")
    return compared


def _moderate(evidence: Evidence, full: Member) -> list[Member]:
    members = [member for member in beyond(evidence.family, EXTREME) if member != full]
    if not members:
        raise Missing(f"no model stands for a rank above {EXTREME} and below the full one")
    return members


def _more(evidence: Evidence, representation: str, a: Member, b: Member, bound: float = 0.0) -> Comparison:
    more, less = (evidence.value(EFFECTIVE_RANK, member, representation) for member in (a, b))
    return evidence.compare(more, less, f"{REPRESENTATIONS[representation]}, {a} against {b}", bound)


def _of_run(run: Run, member: Member, representation: str) -> Value:
    means = []
    for model in member.models:
        table = read_table(run.path("ranks", model), ["representation", "measure", "value"]).to_pandas()
        rows = table[(table.representation == representation) & (table.measure == PUBLISHED_MEASURE)]
        means.append(float(rows.value.iloc[0]))
    return Value(tuple(means), member.trainings, PUBLISHED_MEASURE)


def _printed(published: Published, member: Member, representation: str) -> Value:
    return cell(_cells(published), member, representation)


@cache
def _cells(published: Published) -> pd.Series:
    return published.table("7_3").set_index(["model", "representation"])["mean"]


def _of_all(run: Run, member: Member) -> list[Value]:
    return [_of_run(run, member, representation) for representation in REPRESENTATIONS]


EFFECTIVE_RANK = Source(PUBLISHED_MEASURE, _of_run, _printed)

MARGINS = {PUBLISHED_MEASURE: Margin("effective ranks", _of_all)}

CLAIMS = [
    Claim(
        "low-ranks-degraded",
        "7.2, Table 7.3",
        "At ranks 4 and 8 hidden states and probabilities use fewer dimensions than at full rank.",
        "Effective rank of probabilities and of what enters the bottleneck: full rank less each of the two.",
        low_ranks_are_degraded,
    ),
    Claim(
        "moderate-ranks-keep-probabilities",
        "7.2, Table 7.3",
        "At moderate ranks hidden states and probabilities use about as many dimensions as at full rank.",
        "Effective rank of probabilities and of what enters the bottleneck at each rank between 8 and full: "
        "within a tenth of full rank's.",
        moderate_ranks_keep_probabilities,
    ),
    Claim(
        "logits-stay-below-full",
        "7.2, Table 7.3",
        "At moderate ranks logits and what leaves the bottleneck use fewer dimensions than at full rank.",
        "Effective rank of logits and of what leaves the bottleneck: full rank less each rank between 8 and "
        "full, above a tenth of full rank's. An effective rank cannot exceed the rank; where that alone decides, "
        "there is no comparison.",
        logits_and_post_stay_below_full,
    ),
]
