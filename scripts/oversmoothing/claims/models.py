"""Claims about rank: losses (thesis 3.4), oversmoothing (4.2), truncated heads (7.1) and entropy (F.1)."""

from collections.abc import Sequence
from itertools import combinations, product

from oversmoothing.claims.choose import (
    FURTHER,
    MODERATE,
    MOST,
    UNCONSTRAINED,
    beyond,
    each,
    full_rank,
    neighbours,
    ranked,
    several,
    standing_for,
    up_to,
)
from oversmoothing.claims.comparison import Comparison, Missing, Value, agree, constant, correlate, minus
from oversmoothing.claims.evidence import Evidence
from oversmoothing.claims.members import Member
from oversmoothing.scores.catalogue.metrics import METRICS

MAIN = ("tto", "nsmd", "tv", "kl")
TOLERANCE = 0.1  # of a value: a difference that the thesis considers none
SLIGHT = 0.25  # of a value: a difference that the thesis calls slight (its own are 13 to 21 %)
STRONG = 0.7  # a correlation that we call strong
ENOUGH_TO_CORRELATE = 4


def truths_beat_the_family(evidence: Evidence) -> list[Comparison]:
    """Compare the loss and accuracy of every truth and every member."""
    compared = []
    for truth, member in product(evidence.truths, evidence.family):
        against = f"{truth} against {member}"
        worse, better, where = _losses(evidence, member, truth)
        compared.append(evidence.compare(worse, better, f"{where} loss, {against}"))
        compared.append(evidence.compare(evidence.accuracy(truth), evidence.accuracy(member), f"accuracy, {against}"))
    if not compared:
        raise Missing("it takes a truth and a model of the family with a rank")
    return compared


def loss_and_accuracy_agree(evidence: Evidence) -> list[Comparison]:
    """Test for each pair of members whether the one with the lower loss has the higher accuracy."""
    return [
        agree(
            evidence.compare(evidence.loss(b), evidence.loss(a), ""),
            evidence.compare(evidence.accuracy(a), evidence.accuracy(b), f"accuracy, {a} and {b}"),
        )
        for a, b in combinations(several(evidence.family), 2)
    ]


def little_gained_from_moderate_rank(evidence: Evidence) -> list[Comparison]:
    """Test whether each step of rank up to 16 lowers the loss by more than the range of losses from 16 on."""
    moderate = several(beyond(evidence.family, MODERATE - 1), f"from {MODERATE} on")
    losses = sorted((evidence.loss(member) for member in moderate), key=lambda value: value.mean)
    spread = minus(losses[-1], losses[0])
    return [
        evidence.compare(
            minus(evidence.loss(a), evidence.loss(b)), spread, f"loss from {a} to {b}, against all from {MODERATE} on"
        )
        for a, b in neighbours(up_to(evidence.family, MODERATE), f"up to {MODERATE}")
    ]


def falls_up_to_32(evidence: Evidence) -> list[Comparison]:
    """Compare each rank up to 32 with the next, under each metric."""
    return _falls(evidence, MAIN, _steps_up_to_32(evidence))


def no_change_to_128(evidence: Evidence) -> list[Comparison]:
    """Test whether rank 128 is within a tenth of rank 32, under each metric."""
    a, b = standing_for(evidence.family, FURTHER), standing_for(evidence.family, MOST)
    compared = []
    for metric in MAIN:
        of_a, of_b = evidence.score(metric, a), evidence.score(metric, b)
        compared += alike(evidence, of_a, of_b, METRICS[metric].label, str(a), str(b))
    return compared


def metrics_differ(evidence: Evidence) -> list[Comparison]:
    """Test whether TTO and NSMD favour rank 128 over rank 32, and TV and KL rank 32 over rank 128."""
    a, b = standing_for(evidence.family, MOST), standing_for(evidence.family, FURTHER)
    return _falls(evidence, ("tto", "nsmd"), [(a, b)]) + _falls(evidence, ("tv", "kl"), [(b, a)])


def slight_rise_at_512(evidence: Evidence) -> list[Comparison]:
    """Test whether rank 512 is above each rank from 32 to 128, and by no more than a quarter."""
    full = standing_for(evidence.family, UNCONSTRAINED)
    compared = []
    for member, metric in product(up_to(beyond(evidence.family, MOST - 1), FURTHER), MAIN):
        compared.append(_more(evidence, metric, full, member))
        compared.append(_more(evidence, metric, member, full, -SLIGHT * evidence.score(metric, member).scale))
    if not compared:
        raise Missing(f"no model stands for a rank from {MOST} to {FURTHER}")
    return compared


def loss_correlates(evidence: Evidence) -> list[Comparison]:
    """Correlate loss and oversmoothing over all models of the family, with Fisher's interval."""
    models = each(evidence.family)
    if len(models) < ENOUGH_TO_CORRELATE:
        raise Missing(f"a correlation takes {ENOUGH_TO_CORRELATE} models, the family has {len(models)}")
    losses = [evidence.loss(model).mean for model in models]
    return [
        correlate(
            losses,
            [evidence.score(metric, model).mean for model in models],
            f"{METRICS[metric].label} and loss",
            evidence.chance,
            STRONG,
        )
        for metric in MAIN
    ]


def tbat_falls(evidence: Evidence) -> list[Comparison]:
    """Compare the TBAT of each rank with that of the next."""
    return _falls(evidence, ("tbat",), neighbours(evidence.family))


def tbat_is_zero_at_full_rank(evidence: Evidence) -> list[Comparison]:
    """Test whether the TBAT of each full-rank model is 0."""
    values = {model: evidence.score("tbat", model) for model in full_rank(evidence.family).alone()}
    return [
        Comparison(f"TBAT, {model}", value.mean, value.mean, value.mean, n=value.n, exactly=True)
        for model, value in values.items()
    ]


def all_are_smoother_than_the_truth(evidence: Evidence) -> list[Comparison]:
    """Test whether the truth has less entropy than every member."""
    name = "entropy of the model less that of the truth (bits)"
    return [
        evidence.compare(constant(0), evidence.score("entropy_difference", member), f"{name}, {member}")
        for member in ranked(evidence)
    ]


def falls_in_entropy(evidence: Evidence) -> list[Comparison]:
    """Compare the entropy difference of each rank up to 32 with that of the next; lower is smoother."""
    return _falls(evidence, ("entropy_difference",), [(b, a) for a, b in _steps_up_to_32(evidence)])


def truncation_is_monotone(evidence: Evidence) -> list[Comparison]:
    """Compare each truncation of a head with the next less severe one, under each metric."""
    steps = neighbours(evidence.truncations, "in `svd_ranks`")
    return _falls(evidence, MAIN, steps)


def truncation_is_worse_than_learning(evidence: Evidence) -> list[Comparison]:
    """Compare each truncated head with the member that was trained at that rank."""
    learned = {member.rank: member for member in evidence.family if not member.full}
    compared = [
        evidence.compare(
            evidence.score(metric, cut),
            evidence.score(metric, learned[cut.rank]),
            f"{METRICS[metric].label}, {cut} against learned {learned[cut.rank]}",
        )
        for metric in MAIN
        for cut in evidence.truncations
        if cut.rank in learned
    ]
    if not compared:
        raise Missing("`svd_ranks` has no rank of the family")
    return compared


def alike(evidence: Evidence, a: Value, b: Value, what: str, one: str, other: str) -> list[Comparison]:
    """Test whether two values differ by no more than a tenth of the second, in either direction."""
    return [
        evidence.compare(a, b, f"{what}, {one} against {other}", -TOLERANCE * b.scale),
        evidence.compare(b, a, f"{what}, {other} against {one}", -TOLERANCE * b.scale),
    ]


def _losses(evidence: Evidence, member: Member, truth: Member) -> tuple[Value, Value, str]:
    """Return both validation losses; for a truth that was not trained here, the losses on the windows."""
    try:
        return evidence.loss(member), evidence.loss(truth), "validation"
    except Missing:
        return evidence.loss_on_windows(member), evidence.loss_on_windows(truth), "evaluation"


def _steps_up_to_32(evidence: Evidence) -> list[tuple[Member, Member]]:
    return neighbours(up_to(evidence.family, MOST), f"up to {MOST}")


def _falls(evidence: Evidence, metrics: Sequence[str], pairs: Sequence[tuple[Member, Member]]) -> list[Comparison]:
    return [_more(evidence, metric, a, b) for metric in metrics for a, b in pairs]


def _more(evidence: Evidence, metric: str, a: Member, b: Member, bound: float = 0.0) -> Comparison:
    name = f"{METRICS[metric].label}, {a} against {b}"
    return evidence.compare(evidence.score(metric, a), evidence.score(metric, b), name, bound)
