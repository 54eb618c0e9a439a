"""Claims about the effect of decodings on oversmoothing (thesis 6.1, Table 6.1)."""

from itertools import pairwise, permutations, product

from oversmoothing.claims.choose import MODERATE, beyond, extreme, ranked
from oversmoothing.claims.comparison import Comparison, Missing, Outcome
from oversmoothing.claims.evidence import Evidence
from oversmoothing.claims.members import Member
from oversmoothing.scores.catalogue.metrics import METRICS

OTHERS = ("greedy", "top-k", "top-p", "temperature")
ALL = ("pure", *OTHERS)


def greedy_is_lowest(evidence: Evidence) -> list[Comparison]:
    """Compare greedy with every other decoding under TTO and NSMD."""
    return _lowest(evidence, ("tto", "nsmd"), "greedy")


def temperature_is_lowest(evidence: Evidence) -> list[Comparison]:
    """Compare temperature with every other decoding under TV."""
    return _lowest(evidence, ("tv",), "temperature")


def order_under_kl(evidence: Evidence) -> list[Comparison]:
    """Compare each decoding with the next under KL, in the order given by the thesis."""
    order = ("pure", "temperature", "top-p", "top-k", "greedy")
    return [_less(evidence, "kl", model, a, b) for model in ranked(evidence) for a, b in pairwise(order)]


def all_reduce(evidence: Evidence) -> list[Comparison]:
    """Compare every other decoding with pure under TTO and NSMD."""
    return [
        _less(evidence, metric, model, decoding, "pure")
        for metric in ("tto", "nsmd")
        for model in ranked(evidence)
        for decoding in OTHERS
    ]


def none_lifts(evidence: Evidence) -> list[Comparison]:
    """Compare each model under every other decoding with pure sampling from each better one, under TTO and NSMD."""
    compared = []
    for worse, better in permutations(evidence.family, 2):
        loss = evidence.compare(evidence.loss(worse), evidence.loss(better), "")
        if loss.outcome != Outcome.HOLDS:
            continue  # it is not clear which model is better
        for metric, other in product(("tto", "nsmd"), OTHERS):
            name = f"{METRICS[metric].label}, {worse} {other} against {better} pure"
            pure = evidence.score(metric, better)
            compared.append(evidence.compare(evidence.score(metric, worse, other), pure, name))
    if not compared:
        raise Missing("no two models have clearly different losses")
    return compared


def only_nucleus_improves_tv(evidence: Evidence) -> list[Comparison]:
    """Test under TV whether top-p improves on pure at ranks 4 and 8 only, and greedy and top-k at no rank."""
    low, moderate = extreme(evidence.family), beyond(evidence.family, MODERATE - 1)
    if not moderate:
        raise Missing(f"no model stands for a rank from {MODERATE} on")
    return [
        *(_less(evidence, "tv", model, "pure", other) for model in ranked(evidence) for other in ("greedy", "top-k")),
        *(_less(evidence, "tv", model, "top-p", "pure") for model in low),
        *(_less(evidence, "tv", model, "pure", "top-p") for model in moderate),
    ]


def _lowest(evidence: Evidence, metrics: tuple[str, ...], best: str) -> list[Comparison]:
    return [
        _less(evidence, metric, model, best, other)
        for metric in metrics
        for model in ranked(evidence)
        for other in ALL
        if other != best
    ]


def _less(evidence: Evidence, metric: str, model: Member, low: str, high: str) -> Comparison:
    a, b = evidence.score(metric, model, high), evidence.score(metric, model, low)
    return evidence.compare(a, b, f"{METRICS[metric].label}, {high} against {low}, {model}")
