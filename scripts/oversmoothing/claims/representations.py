"""Claims about truncated heads and effective ranks (thesis chapter 7)."""

from oversmoothing.catalogue.metrics import METRICS
from oversmoothing.claims.choose import EXTREME, beyond, extreme, full_rank, neighbours
from oversmoothing.claims.comparison import Comparison, Missing
from oversmoothing.claims.evidence import Evidence
from oversmoothing.claims.members import Member
from oversmoothing.claims.models import MAIN, TOLERANCE, alike
from oversmoothing.ranks.table import REPRESENTATIONS


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
    found = []
    for representation in ("probabilities", "pre"):
        for member in _moderate(evidence, full):
            a, b = (evidence.effective_rank(representation, m) for m in (member, full))
            found += alike(evidence, a, b, REPRESENTATIONS[representation], str(member), str(full))
    return found


def logits_and_post_stay_below_full(evidence: Evidence) -> list[Comparison]:
    """Test whether logits and post-bottleneck vectors between rank 8 and full are over a tenth below full's.

    The effective rank of a matrix cannot exceed its rank; where this alone decides, there is nothing to compare.
    """
    full = full_rank(evidence.family)
    found = []
    for representation in ("logits", "post"):
        own = evidence.effective_rank(representation, full).mean
        for member in _moderate(evidence, full):
            if member.rank is not None and member.rank >= (1 - TOLERANCE) * own:
                found.append(_more(evidence, representation, full, member, TOLERANCE * own))
    if not found:
        raise Missing("every rank lies below the full model's effective ranks, so that it cannot be otherwise")
    return found


def _moderate(evidence: Evidence, full: Member) -> list[Member]:
    members = [member for member in beyond(evidence.family, EXTREME) if member != full]
    if not members:
        raise Missing(f"no model stands for a rank above {EXTREME} and below the full one")
    return members


def _more(evidence: Evidence, representation: str, a: Member, b: Member, bound: float = 0.0) -> Comparison:
    more, less = (evidence.effective_rank(representation, member) for member in (a, b))
    return evidence.compare(more, less, f"{REPRESENTATIONS[representation]}, {a} against {b}", bound)
