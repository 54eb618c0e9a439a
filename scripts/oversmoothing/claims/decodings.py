"""The thesis's findings on decoding, as claims that can fail (6.1, 8)."""

from dataclasses import replace
from itertools import pairwise, permutations, product

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, clearly_above_0, less
from oversmoothing.claims.measured import Measured, Rank
from oversmoothing.claims.thesis import LOW, MASS, MODERATE, OTHERS, SLIGHT, loss
from oversmoothing.scores.catalogue.metrics import METRICS


def decoded(m: Measured, metric: str, rank: Rank, a: str, b: str) -> Contrast:
    """Contrast two decodings at one rank."""
    one, other = (m.values("decodings_pooled", metric, rank=rank.rank, decoding=name) for name in (a, b))
    return less(f"{METRICS[metric].label}, {a} less {b}, {rank}", one, other)


def none_lifts(m: Measured) -> list[Contrast]:
    """Contrast each rank under every other decoding with pure sampling from each rank that is clearly better."""
    found = []
    for worse, better in permutations(m.family, 2):
        if not clearly_above_0(less("", loss(m, worse), loss(m, better))):
            continue
        for metric, other in product(MASS, OTHERS):
            a = m.values("decodings_pooled", metric, rank=worse.rank, decoding=other)
            b = m.values("decodings_pooled", metric, rank=better.rank, decoding="pure")
            found.append(less(f"{METRICS[metric].label}, {worse} {other} less {better} pure", a, b))
    return found


def decoding_reduces_marginally(m: Measured) -> list[Contrast]:
    """Hold what each decoding takes off TTO and NSMD to between 0 and a quarter of pure sampling's, at each rank.

    "Decoding methods can reduce the level of oversmoothing, albeit only marginally, and this improvement depends on the
    chosen metric." (8)
    """
    found = []
    for metric, rank, other in product(MASS, m.ranks(), OTHERS):
        most = SLIGHT * m.values("decodings_pooled", metric, rank=rank.rank, decoding="pure").mean()
        found.append(replace(decoded(m, metric, rank, "pure", other), below=most))
    return found


CLAIMS = [
    Claim(
        "greedy-lowest-under-tto-nsmd",
        "6.1, Table 6.1",
        "Under TTO and NSMD greedy decoding is best in every model.",
        "Each other decoding less greedy, at each rank.",
        lambda m: [
            decoded(m, metric, rank, other, "greedy")
            for metric, rank, other in product(MASS, m.ranks(), ("pure", "top-k", "top-p", "temperature"))
        ],
    ),
    Claim(
        "temperature-lowest-under-tv",
        "6.1, Table 6.1",
        "Under TV temperature is best in every model.",
        "Each other decoding less temperature, at each rank.",
        lambda m: [
            decoded(m, "tv", rank, other, "temperature")
            for rank, other in product(m.ranks(), ("pure", "greedy", "top-k", "top-p"))
        ],
    ),
    Claim(
        "order-under-kl",
        "6.1, Table 6.1",
        "Under KL pure sampling is best in every model, then temperature, nucleus, top-k and greedy.",
        "Each decoding less the one that should be next better, at each rank.",
        lambda m: [decoded(m, "kl", rank, a, b) for rank, (a, b) in product(m.ranks(), pairwise((*OTHERS, "pure")))],
    ),
    Claim(
        "all-decodings-reduce",
        "6.1, Table 6.1",
        "Under TTO and NSMD every decoding oversmooths less than pure sampling.",
        "Pure less each other decoding, at each rank.",
        lambda m: [decoded(m, metric, rank, "pure", other) for metric, rank, other in product(MASS, m.ranks(), OTHERS)],
    ),
    Claim(
        "no-decoding-lifts",
        "6.1, Table 6.1",
        "Under TTO and NSMD no decoding lifts a model above pure sampling from one with a better validation loss.",
        "Each rank under each other decoding less pure sampling from each rank with a lower loss.",
        none_lifts,
    ),
    Claim(
        "only-nucleus-improves-tv",
        "6.1, Table 6.1",
        "Apart from temperature, only nucleus sampling improves TV over pure sampling, and only at the lowest ranks.",
        "Greedy and top-k less pure at each rank; pure less nucleus up to rank 8, nucleus less pure from rank 16 on.",
        lambda m: [
            *(decoded(m, "tv", rank, other, "pure") for rank in m.ranks() for other in ("greedy", "top-k")),
            *(decoded(m, "tv", rank, "pure", "top-p") for rank in m.ranks(high=LOW)),
            *(decoded(m, "tv", rank, "top-p", "pure") for rank in m.ranks(MODERATE)),
        ],
    ),
    Claim(
        "decoding-reduces-marginally",
        "8, Table 6.1",
        "Decoding reduces oversmoothing under TTO and NSMD only marginally.",
        "Pure less each other decoding, at each rank, above 0 and below a quarter of pure sampling's.",
        decoding_reduces_marginally,
    ),
]
