"""Selection of the members that a claim refers to; `Missing` is raised for members that are absent."""

from itertools import pairwise, product

from oversmoothing.claims.comparison import Missing
from oversmoothing.claims.evidence import Evidence
from oversmoothing.claims.members import Member

MOST = 32  # "to 32 dimensions" (thesis 4.2)
FURTHER = 128  # "when the bottleneck is further weakened to 128 dimensions" (4.2)
MODERATE = 16  # "a pre-LM head hidden dimension of 16 or greater" (3.4)
EXTREME = 8  # "the 4- and 8-bottlenecked" models (5.3)
TWELVE = 12  # the rank whose words look human (5.3)
EXTREMES = 10  # bytes at either end of the frequencies (Figure 4.3)
UNCONSTRAINED = 512  # "at 512 dimensions" (4.2)


def each(members: list[Member]) -> list[Member]:
    """Return every training as a member of its own, for comparisons within one model."""
    return [alone for member in members for alone in member.alone()]


def of_rank(members: list[Member], rank: int) -> Member:
    """Return the member of a rank."""
    for member in members:
        if member.rank == rank:
            return member
    raise Missing(f"no model has rank {rank}")


def up_to(members: list[Member], role: int) -> list[Member]:
    """Return the members that stand for the thesis's ranks up to `role`."""
    return [member for member in members if member.role is not None and member.role <= role]


def beyond(members: list[Member], role: int) -> list[Member]:
    """Return the members that stand for the thesis's ranks above `role`."""
    return [member for member in members if member.role is not None and member.role > role]


def standing_for(members: list[Member], role: int) -> Member:
    """Return the member that stands for the thesis's rank `role`."""
    for member in members:
        if member.role == role:
            return member
    raise Missing(f"no model stands for the thesis's rank {role}")


def ranked(evidence: Evidence) -> list[Member]:
    """Return the family, which must have a member."""
    if not evidence.family:
        raise Missing("no model of the family has a rank")
    return evidence.family


def several(members: list[Member], what: str = "") -> list[Member]:
    """Return the members, of which there must be two; `what` says of which ranks."""
    if len(members) < 2:
        raise Missing(f"it takes two ranks{f' {what}' if what else ''}")
    return members


def neighbours(members: list[Member], what: str = "") -> list[tuple[Member, Member]]:
    """Return pairs of each member and the member of the next higher rank."""
    return list(pairwise(several(members, what)))


def extreme(members: list[Member]) -> list[Member]:
    """Return the members that stand for the severe bottlenecks of 5.3."""
    severe = up_to(members, EXTREME)
    if not severe:
        raise Missing(f"no model stands for a rank up to {EXTREME}")
    return severe


def low_and_higher(members: list[Member]) -> list[tuple[Member, Member]]:
    """Return pairs of each member of an extreme rank (thesis 5.3) and each member of a higher one."""
    pairs = list(product(up_to(members, EXTREME), beyond(members, EXTREME)))
    if not pairs:
        raise Missing(f"it takes ranks up to {EXTREME} and above")
    return pairs


def lowest_and_best(evidence: Evidence) -> tuple[Member, Member]:
    """Return the two models of Figure 4.2: that of the lowest rank and the one with the lowest NSMD."""
    lowest, *others = several(evidence.family)
    return lowest, min(others, key=lambda member: evidence.score("nsmd", member).mean)


def frequent_bytes(evidence: Evidence) -> list[int]:
    """Return the ten most frequent bytes of the scored text."""
    return _by_frequency(evidence)[:EXTREMES]


def rarest_bytes(evidence: Evidence) -> list[int]:
    """Return the ten rarest bytes of the scored text, which are not among the ten most frequent."""
    return _by_frequency(evidence)[-EXTREMES:]


def full_rank(members: list[Member]) -> Member:
    """Return the member whose head leaves the logits unconstrained."""
    for member in reversed(members):
        if member.full:
            return member
    raise Missing("no model of the family has full rank (257 or more, for 256 bytes)")


def _by_frequency(evidence: Evidence) -> list[int]:
    order = evidence.by_frequency()
    if len(order) < 2 * EXTREMES:
        raise Missing(f"only {len(order)} different bytes stand in the windows; it takes {2 * EXTREMES}")
    return order
