"""Claims about rank: losses (thesis 3.4), oversmoothing (4.2), bytes (4.3) and entropy (F.1)."""

from collections.abc import Callable, Sequence
from itertools import combinations

from oversmoothing.catalogue.metrics import METRICS
from oversmoothing.claims.bytes import ScoresByByte, by_frequency, of_bytes, share_higher
from oversmoothing.claims.choose import (
    FURTHER,
    MODERATE,
    MOST,
    UNCONSTRAINED,
    beyond,
    each,
    extreme,
    full_rank,
    lowest_and_best,
    neighbours,
    standing_for,
    up_to,
)
from oversmoothing.claims.comparison import Comparison, Missing, Value, agree, constant, correlate, minus
from oversmoothing.claims.evidence import Evidence
from oversmoothing.claims.members import Member

MAIN = ("tto", "nsmd", "tv", "kl")
TOLERANCE = 0.1  # of a value: a difference that the thesis considers none
SLIGHT = 0.25  # of a value: a difference that the thesis calls slight (its own are 13 to 21 %)
STRONG = 0.7  # a correlation that we call strong
NEARLY_ALL = 0.9  # of the bytes
EXTREMES = 10  # bytes at either end of the frequencies (Figure 4.3)
ENOUGH_TO_CORRELATE = 4


def truths_beat_the_family(evidence: Evidence) -> list[Comparison]:
    """Compare the loss and accuracy of every truth and every member."""
    found = []
    for truth in evidence.truths:
        for member in evidence.family:
            against = f"{truth} against {member}"
            worse, better, where = _losses(evidence, member, truth)
            found.append(evidence.compare(worse, better, f"{where} loss, {against}"))
            found.append(evidence.compare(evidence.accuracy(truth), evidence.accuracy(member), f"accuracy, {against}"))
    if not found:
        raise Missing("it takes a truth and a model of the family with a rank")
    return found


def loss_and_accuracy_agree(evidence: Evidence) -> list[Comparison]:
    """Test for each pair of members whether the one with the lower loss has the higher accuracy."""
    return [
        agree(
            evidence.compare(evidence.loss(b), evidence.loss(a), ""),
            evidence.compare(evidence.accuracy(a), evidence.accuracy(b), f"accuracy, {a} and {b}"),
        )
        for a, b in _pairs(evidence)
    ]


def little_gained_from_moderate_rank(evidence: Evidence) -> list[Comparison]:
    """Test whether each step of rank up to 16 lowers the loss by more than the range of losses from 16 on."""
    moderate = beyond(evidence.family, MODERATE - 1)
    if len(moderate) < 2:
        raise Missing(f"it takes two ranks from {MODERATE} on")
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
    return _falls(evidence, MAIN, neighbours(up_to(evidence.family, MOST), f"up to {MOST}"))


def no_change_to_128(evidence: Evidence) -> list[Comparison]:
    """Test whether rank 128 is within a tenth of rank 32, under each metric."""
    a, b = standing_for(evidence.family, FURTHER), standing_for(evidence.family, MOST)
    found = []
    for metric in MAIN:
        found += alike(
            evidence, evidence.score(metric, a), evidence.score(metric, b), METRICS[metric].label, str(a), str(b)
        )
    return found


def metrics_differ(evidence: Evidence) -> list[Comparison]:
    """Test whether TTO and NSMD favour rank 128 over rank 32, and TV and KL rank 32 over rank 128."""
    a, b = standing_for(evidence.family, MOST), standing_for(evidence.family, FURTHER)
    return _falls(evidence, ("tto", "nsmd"), [(a, b)]) + _falls(evidence, ("tv", "kl"), [(b, a)])


def slight_rise_at_512(evidence: Evidence) -> list[Comparison]:
    """Test whether rank 512 is above each rank from 32 to 128, and by no more than a quarter."""
    full = standing_for(evidence.family, UNCONSTRAINED)
    found = []
    for member in up_to(beyond(evidence.family, MOST - 1), FURTHER):
        for metric in MAIN:
            a, b = evidence.score(metric, full), evidence.score(metric, member)
            found.append(evidence.compare(a, b, f"{METRICS[metric].label}, {full} against {member}"))
            found.append(
                evidence.compare(b, a, f"{METRICS[metric].label}, {member} against {full}", -SLIGHT * b.scale),
            )
    if not found:
        raise Missing(f"no model stands for a rank from {MOST} to {FURTHER}")
    return found


def all_oversmooth(evidence: Evidence) -> list[Comparison]:
    """Compare the NSMD of every member with 0; the other three are above 0 for any model that is not the truth."""
    return _each_member(evidence, lambda m: evidence.compare(evidence.score("nsmd", m), constant(0), f"NSMD, {m}"))


def loss_correlates(evidence: Evidence) -> list[Comparison]:
    """Correlate loss and oversmoothing over all models of the family, with Fisher's interval."""
    models = each(evidence.family)
    if len(models) < ENOUGH_TO_CORRELATE:
        raise Missing(f"a correlation takes {ENOUGH_TO_CORRELATE} models, the family has {len(models)}")
    losses = [evidence.loss(model).mean for model in models]
    found = []
    for metric in MAIN:
        scores = [evidence.score(metric, model).mean for model in models]
        found.append(correlate(losses, scores, f"{METRICS[metric].label} and loss", evidence.chance, STRONG))
    return found


def tbat_falls(evidence: Evidence) -> list[Comparison]:
    """Compare the TBAT of each rank with that of the next."""
    return _falls(evidence, ("tbat",), neighbours(evidence.family))


def tbat_is_zero_at_full_rank(evidence: Evidence) -> list[Comparison]:
    """Test whether the TBAT of each full-rank model is 0."""
    found = []
    for model in full_rank(evidence.family).alone():
        value = evidence.score("tbat", model)
        found.append(Comparison(f"TBAT, {model}", value.mean, value.mean, value.mean, n=value.n, exactly=True))
    return found


def rare_bytes_are_oversmoothed_more(evidence: Evidence) -> list[Comparison]:
    """Compare the NSMD at the ten rarest bytes with that at the ten most frequent, in the two models of Figure 4.2."""
    found = []
    for model in each(list(lowest_and_best(evidence))):
        scores = evidence.by_byte(model.models[0])
        order = _in_order(scores)
        rare, frequent = (
            Value((sums.mean,), model.trainings, sums=(sums,))
            for sums in (of_bytes(scores, order[-EXTREMES:]), of_bytes(scores, order[:EXTREMES]))
        )
        found.append(evidence.compare(rare, frequent, f"NSMD, rarest against most frequent bytes, {model}"))
    return found


def lowest_rank_is_worse_at_nearly_every_byte(evidence: Evidence) -> list[Comparison]:
    """Test the share of bytes at which the lowest rank has a higher mean NSMD than the best model, seed by seed."""
    lowest, best = lowest_and_best(evidence)
    found = []
    for a, b in zip(lowest.alone(), best.alone(), strict=True):
        scores = evidence.by_byte(a.models[0]), evidence.by_byte(b.models[0])
        chance = evidence.chance
        if chance is None:
            raise Missing("no chance is known")
        share, low, high = share_higher(*scores, chance.run_to_run["nsmd"], chance.resamples, chance.seed)
        name = f"share of {len(scores[0])} bytes, {a} against {b}"
        found.append(Comparison(name, share, low, high, NEARLY_ALL, n=len(scores[0])))
    return found


def lowest_rank_never_predicts_the_rarest(evidence: Evidence) -> list[Comparison]:
    """Count how often the lowest rank predicts one of the ten rarest bytes."""
    found = []
    for model in _lowest(evidence):
        predicted, rarest = evidence.predicted(model.models[0]), _rarest(evidence, model.models[0])
        times = float(predicted[rarest].sum())
        name = f"times that {model} predicts one of the {len(rarest)} rarest bytes"
        found.append(Comparison(name, times, times, times, n=int(predicted.sum()), exactly=True))
    return found


def low_ranks_cannot_predict_the_rarest(evidence: Evidence) -> list[Comparison]:
    """Count the ten rarest bytes that ranks 4 and 8 could predict from some hidden state."""
    found = []
    for model in each(extreme(evidence.family)):
        rarest = _rarest(evidence, model.models[0])
        able = float(len(set(rarest) - evidence.never_argmaxable(model.models[0])))
        name = f"argmaxable among the {len(rarest)} rarest bytes, {model}"
        found.append(Comparison(name, able, able, able, n=len(rarest), exactly=True))
    return found


def unargmaxable_bytes_fall(evidence: Evidence) -> list[Comparison]:
    """Compare the number of unargmaxable bytes at each rank with that at the next, as long as there are any."""
    found = []
    for a, b in neighbours(evidence.family):
        first, second = evidence.unargmaxable(a), evidence.unargmaxable(b)
        if first.mean or second.mean:
            found.append(evidence.compare(first, second, f"unargmaxable bytes, {a} against {b}"))
    if not found:
        raise Missing("every model can predict every byte")
    return found


def all_are_smoother_than_the_truth(evidence: Evidence) -> list[Comparison]:
    """Test whether the truth has less entropy than every member."""
    name = "entropy of the model less that of the truth (bits)"
    return _each_member(
        evidence,
        lambda m: evidence.compare(constant(0), evidence.score("entropy_difference", m), f"{name}, {m}"),
    )


def falls_in_entropy(evidence: Evidence) -> list[Comparison]:
    """Compare the entropy difference of each rank up to 32 with that of the next; lower is smoother."""
    return [
        evidence.compare(
            evidence.score("entropy_difference", b),
            evidence.score("entropy_difference", a),
            f"{METRICS['entropy_difference'].label}, {b} against {a}",
        )
        for a, b in neighbours(up_to(evidence.family, MOST), f"up to {MOST}")
    ]


def alike(evidence: Evidence, a: Value, b: Value, what: str, own: str, other: str) -> list[Comparison]:
    """Test whether two values differ by no more than a tenth of the second, in either direction."""
    return [
        evidence.compare(a, b, f"{what}, {own} against {other}", -TOLERANCE * b.scale),
        evidence.compare(b, a, f"{what}, {other} against {own}", -TOLERANCE * b.scale),
    ]


def _losses(evidence: Evidence, member: Member, truth: Member) -> tuple[Value, Value, str]:
    """Return both validation losses; for a truth that was not trained here, the losses on the windows."""
    try:
        return evidence.loss(member), evidence.loss(truth), "validation"
    except Missing:
        return evidence.loss_on_windows(member), evidence.loss_on_windows(truth), "evaluation"


def _falls(evidence: Evidence, metrics: Sequence[str], pairs: Sequence[tuple[Member, Member]]) -> list[Comparison]:
    return [
        evidence.compare(
            evidence.score(metric, a), evidence.score(metric, b), f"{METRICS[metric].label}, {a} against {b}"
        )
        for metric in metrics
        for a, b in pairs
    ]


def _pairs(evidence: Evidence) -> list[tuple[Member, Member]]:
    if len(evidence.family) < 2:
        raise Missing("it takes two ranks")
    return list(combinations(evidence.family, 2))


def _each_member(evidence: Evidence, comparison: Callable[[Member], Comparison]) -> list[Comparison]:
    if not evidence.family:
        raise Missing("no model of the family has a rank")
    return [comparison(member) for member in evidence.family]


def _lowest(evidence: Evidence) -> list[Member]:
    if not evidence.family:
        raise Missing("no model of the family has a rank")
    return evidence.family[0].alone()


def _rarest(evidence: Evidence, model: str) -> list[int]:
    return _in_order(evidence.by_byte(model))[-EXTREMES:]


def _in_order(scores: ScoresByByte) -> list[int]:
    order = by_frequency(scores)
    if len(order) < 2 * EXTREMES:
        raise Missing(f"only {len(order)} different bytes stand in the windows; it takes {2 * EXTREMES}")
    return order
