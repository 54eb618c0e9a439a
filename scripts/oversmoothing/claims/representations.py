"""Claims about truncated heads and effective ranks (thesis chapter 7)."""

from collections.abc import Sequence

from oversmoothing.claims.choose import beyond, full_rank, neighbours
from oversmoothing.claims.comparison import Comparison, Missing
from oversmoothing.claims.evidence import Evidence
from oversmoothing.claims.members import Member
from oversmoothing.claims.models import MAIN, TOLERANCE
from oversmoothing.claims.samples import TWELVE
from oversmoothing.ranks.table import REPRESENTATIONS
from oversmoothing.tables import LABELS


def truncation_is_monotone(evidence: Evidence) -> list[Comparison]:
    """Compare each truncation of a head with the next less severe one, under each metric."""
    pairs = [
        pair
        for low, high in neighbours(evidence.truncations, "in `svd_ranks`")
        for pair in zip(low.alone(), high.alone(), strict=True)
    ]
    return [
        evidence.compare(evidence.score(metric, a), evidence.score(metric, b), f"{LABELS[metric]}, {a} against {b}")
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
            f"{LABELS[metric]}, {cut} against learned {learned[cut.rank]}",
        )
        for metric in MAIN
        for cut in evidence.truncations
        if cut.rank in learned
    ]
    if not found:
        raise Missing("`svd_ranks` has no rank of the family")
    return found


def logits_and_post_stay_below_full(evidence: Evidence) -> list[Comparison]:
    """Compare the effective ranks of logits and post-bottleneck vectors at full rank with those below."""
    full = full_rank(evidence.family)
    return _against_full(evidence, ("logits", "post"), [member for member in evidence.family if member != full])


def probabilities_and_pre_reach_full(evidence: Evidence) -> list[Comparison]:
    """Ask whether probabilities and pre-bottleneck vectors from rank 12 on use nearly as many dimensions as at full."""
    full = full_rank(evidence.family)
    found = []
    for member in beyond(evidence.family, TWELVE - 1):
        for representation in ("probabilities", "pre"):
            a, b = (evidence.effective_rank(representation, m) for m in (member, full))
            name = f"{REPRESENTATIONS[representation]}, {member} against {full}"
            if member != full:
                found.append(evidence.compare(a, b, name, -TOLERANCE * b.scale))
    if not found:
        raise Missing(f"no model stands for a rank from {TWELVE} to below the full one")
    return found


def lowest_rank_is_degraded(evidence: Evidence) -> list[Comparison]:
    """Compare the effective ranks of probabilities and pre-bottleneck vectors at full rank with the lowest's."""
    return _against_full(evidence, ("probabilities", "pre"), evidence.family[:1])


def _against_full(evidence: Evidence, representations: Sequence[str], members: Sequence[Member]) -> list[Comparison]:
    full = full_rank(evidence.family)
    found = [
        evidence.compare(
            evidence.effective_rank(representation, full),
            evidence.effective_rank(representation, member),
            f"{REPRESENTATIONS[representation]}, {full} against {member}",
        )
        for representation in representations
        for member in members
        if member != full
    ]
    if not found:
        raise Missing("no model is below full rank")
    return found
