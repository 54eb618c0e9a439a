"""Claims about truncated heads (thesis 7.1)."""

from oversmoothing.claims.choose import neighbours
from oversmoothing.claims.comparison import Comparison, Missing
from oversmoothing.claims.evidence import Evidence
from oversmoothing.claims.models import MAIN
from oversmoothing.scores.catalogue.metrics import METRICS


def truncation_is_monotone(evidence: Evidence) -> list[Comparison]:
    """Compare each truncation of a head with the next less severe one, under each metric."""
    pairs = [
        pair
        for low, high in neighbours(evidence.truncations, "in `svd_ranks`")
        for pair in zip(low.alone(), high.alone(), strict=True)
    ]
    return [
        evidence.compare(
            evidence.score(metric, a), evidence.score(metric, b), f"{METRICS[metric].label}, {a} against {b}"
        )
        for metric in MAIN
        for a, b in pairs
    ]


def truncation_is_worse_than_learning(evidence: Evidence) -> list[Comparison]:
    """Compare each truncated head with the member that was trained at that rank."""
    learned = {member.rank: member for member in evidence.family if not member.full}
    found = [
        evidence.compare(
            evidence.score(metric, cut),
            evidence.score(metric, learned[cut.rank]),
            f"{METRICS[metric].label}, {cut} against learned {learned[cut.rank]}",
        )
        for metric in MAIN
        for cut in evidence.truncations
        if cut.rank in learned
    ]
    if not found:
        raise Missing("`svd_ranks` has no rank of the family")
    return found
