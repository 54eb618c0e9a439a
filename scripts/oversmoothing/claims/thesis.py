"""The thesis's findings on ranks, in its order, as claims that can fail (3.4, 4.2, 8, F)."""

from collections.abc import Sequence
from itertools import combinations, product

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, less, within
from oversmoothing.claims.measured import Measured, Rank
from oversmoothing.scores.catalogue.metrics import METRICS

LOW, MODERATE, MOST, FURTHER, UNCONSTRAINED = 8, 16, 32, 128, 512  # the thesis's ranks of which 3.4, 4.2 and 6.1 speak
MAIN = ("tto", "nsmd", "tv", "kl")
MASS = ("tto", "nsmd")
OTHERS = ("greedy", "top-k", "top-p", "temperature")
TOLERANCE = 0.1  # of a value: a difference that the thesis considers none
SLIGHT = 0.25  # of a value: a difference that the thesis calls slight (its own are 13 to 21 %)
STRONG = 0.7  # a correlation that we call strong
ENOUGH_TO_CORRELATE = 4


def score(m: Measured, metric: str, rank: Rank) -> pd.Series:
    """Return the mean of a metric under pure sampling over positions and truths, by seed."""
    return m.values("tbat" if metric == "tbat" else "oversmoothing", metric, rank=rank.rank, decoding="pure")


def loss(m: Measured, rank: Rank) -> pd.Series:
    """Return the validation loss in nats per byte, by seed."""
    return m.values("losses", "validation_loss", rank=rank.rank)


def falls(m: Measured, metrics: Sequence[str], pairs: Sequence[tuple[Rank, Rank]]) -> list[Contrast]:
    """Contrast the first of each pair of ranks with the second, under each metric."""
    return [
        less(
            f"{METRICS[metric].label}, {a} less {b}",
            score(m, metric, a),
            score(m, metric, b),
            error=m.error(metric, a, b),
        )
        for metric, (a, b) in product(metrics, pairs)
    ]


def truths_beat_the_family(m: Measured) -> list[Contrast]:
    """Contrast loss and accuracy of each rank with those of each truth."""
    losses = m.table("losses")
    found = []
    for truth, rank in product(losses.model[losses.kind == "truth"].unique(), m.ranks()):
        of_truth = losses[losses.model == truth]
        name = "validation_loss" if (of_truth.measure == "validation_loss").any() else "loss"
        for measure, sign, words in ((name, 1, "loss"), ("accuracy", -1, "accuracy")):
            ours = m.values("losses", measure, rank=rank.rank)
            theirs = m.values("losses", measure, kind="truth", model=truth).mean()
            found.append(less(f"{words}, {rank} beside {truth}", sign * ours, sign * theirs))
    return found


def loss_and_accuracy_agree(m: Measured) -> list[Contrast]:
    """Contrast the accuracy of each two ranks, the one with the lower mean loss first."""
    found = []
    for pair in combinations(m.ranks(least=2), 2):
        better, worse = sorted(pair, key=lambda rank: loss(m, rank).mean())
        a, b = (m.values("losses", "accuracy", rank=rank.rank) for rank in (better, worse))
        found.append(less(f"accuracy, {better} less {worse}", a, b))
    return found


def little_gained_from_moderate_rank(m: Measured) -> list[Contrast]:
    """Contrast the loss gained by each step of rank up to 16 with the range of losses from 16 on."""
    moderate = pd.DataFrame({str(rank): loss(m, rank) for rank in m.ranks(MODERATE, least=2)})
    spread = moderate.max(axis=1) - moderate.min(axis=1)
    return [
        less(f"loss gained from {a} to {b}, less the range from {MODERATE} on", loss(m, a) - loss(m, b), spread)
        for a, b in m.steps(high=MODERATE)
    ]


def no_change_to_128(m: Measured) -> list[Contrast]:
    """Hold rank 128 to within a tenth of rank 32, under each metric."""
    (a,), (b,) = m.ranks(FURTHER, FURTHER), m.ranks(MOST, MOST)
    return [alike(m, metric, a, b) for metric in MAIN]


def alike(m: Measured, metric: str, a: Rank, b: Rank) -> Contrast:
    """Hold one rank to within a tenth of another, under a metric."""
    name = f"{METRICS[metric].label}, {a} less {b}"
    return within(name, score(m, metric, a), score(m, metric, b), TOLERANCE, m.error(metric, a, b))


def metrics_differ(m: Measured) -> list[Contrast]:
    """Contrast rank 32 with rank 128 under TTO and NSMD, and the other way round under TV and KL."""
    (a,), (b,) = m.ranks(MOST, MOST), m.ranks(FURTHER, FURTHER)
    return falls(m, MASS, [(a, b)]) + falls(m, ("tv", "kl"), [(b, a)])


def slight_rise_at_512(m: Measured) -> list[Contrast]:
    """Hold rank 512 to above each rank from 32 to 128, by at most a quarter."""
    (full,) = m.ranks(UNCONSTRAINED, UNCONSTRAINED)
    found = []
    for rank, metric in product(m.ranks(MOST, FURTHER), MAIN):
        a, b = score(m, metric, full), score(m, metric, rank)
        name, most = f"{METRICS[metric].label}, {full} less {rank}", SLIGHT * abs(b.mean())
        found.append(less(name, a, b, 0, most, m.error(metric, full, rank)))
    return found


def loss_correlates(m: Measured) -> list[Contrast]:
    """Correlate loss and each metric over ranks, within each seed."""
    ranks = m.ranks(least=ENOUGH_TO_CORRELATE)
    losses = pd.DataFrame({rank.rank: loss(m, rank) for rank in ranks})
    found = []
    for metric in MAIN:
        scores = pd.DataFrame({rank.rank: score(m, metric, rank) for rank in ranks}).reindex(losses.index)
        found.append(
            less(f"correlation of {METRICS[metric].label} and loss", losses.corrwith(scores, axis=1), above=STRONG)
        )
    return found


def loss_separates_more(m: Measured) -> list[Contrast]:
    """Contrast the range of losses over ranks with that of accuracies, each as a share of its mean, by seed.

    "There is more separation between models in terms of validation loss compared to argmax accuracy." (3.4)
    """
    found = []
    for ranks, named in ((m.ranks(least=2), "all ranks"), (m.ranks(least=3)[1:], "all but the lowest")):
        ranges = []
        for measure in ("validation_loss", "accuracy"):
            values = pd.DataFrame({rank.rank: m.values("losses", measure, rank=rank.rank) for rank in ranks})
            ranges.append((values.max(axis=1) - values.min(axis=1)) / values.mean(axis=1))
        found.append(less(f"range of loss less range of accuracy, as shares of their means, {named}", *ranges))
    return found


def moderate_ranks_leak_as_much(m: Measured) -> list[Contrast]:
    """Hold each rank from 16 on to within a tenth of the highest, under each metric.

    "For moderately and minimally constrained models, the bottleneck dimensionality does not impact oversmoothing,
    although such models still oversmooth." (8)
    """
    *others, highest = m.ranks(MODERATE, least=2)
    return [alike(m, metric, rank, highest) for metric, rank in product(MAIN, others)]


def entropy(m: Measured, rank: Rank) -> pd.Series:
    """Return the entropy of the truth less that of the model in bits, by seed."""
    return m.values("entropy_difference", "entropy_difference", rank=rank.rank, decoding="pure")


CLAIMS = [
    Claim(
        "truths-beat-the-family",
        "3.4, Table 3.1",
        "The truths have a lower validation loss and a higher accuracy than every model of the family.",
        "Loss and accuracy of each rank beside each truth's; of a truth that was not trained here, the loss on the "
        "evaluation windows.",
        truths_beat_the_family,
        cannot_fail="a model is taken as a truth since it predicts better",
    ),
    Claim(
        "loss-and-accuracy-agree",
        "3.4, Table 3.1",
        "Validation loss and accuracy put the models in the same order.",
        "Each two ranks: the accuracy of the one with the lower mean loss, less the other's.",
        loss_and_accuracy_agree,
    ),
    Claim(
        "loss-separates-more",
        "3.4, Table 3.1",
        "Validation loss separates the models more than accuracy does.",
        "Range of loss over ranks less the range of accuracy, each as a share of its mean; of all ranks, and of all "
        "but the lowest.",
        loss_separates_more,
    ),
    Claim(
        "little-gained-from-16",
        "3.4, Figure 3.1",
        "From rank 16 on, the validation losses differ little; below that, each step of rank lowers them by more.",
        "Each step of rank up to 16: the loss gained, less the whole range of losses at ranks from 16 on.",
        little_gained_from_moderate_rank,
    ),
    Claim(
        "falls-up-to-32",
        "4.2, Tables 4.1 and 4.2",
        "Under TTO, NSMD, TV and KL, oversmoothing falls with each step of rank up to 32.",
        "Each rank up to 32 less the next.",
        lambda m: falls(m, MAIN, m.steps(high=MOST)),
    ),
    Claim(
        "no-change-from-32-to-128",
        "4.2, Tables 4.1 and 4.2",
        "From rank 32 to 128 oversmoothing does not vary significantly under TTO, NSMD, TV and KL.",
        "Rank 128 less rank 32, within a tenth of the value at rank 32 on either side (two one-sided tests).",
        no_change_to_128,
    ),
    Claim(
        "metrics-differ-on-32-and-128",
        "4.2, Tables 4.1 and 4.2",
        "TTO and NSMD are lower at rank 128 than at rank 32; TV and KL are lower at rank 32.",
        "One rank less the other under each metric. The thesis calls the differences not significant.",
        metrics_differ,
    ),
    Claim(
        "slight-rise-at-512",
        "4.2, Tables 4.1 and 4.2",
        "At rank 512 oversmoothing is slightly higher than at ranks 32 and 128 under TTO, NSMD, TV and KL.",
        "Rank 512 less each rank from 32 to 128, above 0 and below a quarter of the value there.",
        slight_rise_at_512,
    ),
    Claim(
        "moderate-ranks-leak-as-much",
        "8, Tables 4.1 and 4.2",
        "From rank 16 on, rank does not change oversmoothing under TTO, NSMD, TV and KL.",
        "Each rank from 16 on less the highest, within a tenth of the value there on either side (equivalence).",
        moderate_ranks_leak_as_much,
    ),
    Claim(
        "loss-correlates",
        "4.2",
        "Validation loss and oversmoothing correlate strongly under TTO, NSMD, TV and KL.",
        "Pearson's r between loss and mean score over the ranks of each seed, above 0.7.",
        loss_correlates,
    ),
    Claim(
        "tbat-falls",
        "4.2, Table 4.1",
        "TBAT falls strictly with rank.",
        "Each rank less the next.",
        lambda m: falls(m, ("tbat",), m.steps()),
    ),
    Claim(
        "tbat-zero-at-full-rank",
        "4.2, Table 4.1",
        "At full rank TBAT is exactly 0.",
        "Mean TBAT at full rank, equal to 0.",
        lambda m: [Contrast(f"TBAT, {m.full()}", tuple(score(m, "tbat", m.full())), exact=True)],
        cannot_fail="for a full-rank head W^T q = W^T p has one solution",
    ),
    Claim(
        "all-smoother-than-the-truth",
        "F, Table F.1",
        "Every model has more entropy than the truth.",
        "Entropy of each rank less that of the truth, above 0.",
        lambda m: [less(f"entropy less that of the truth (bits), {rank}", -entropy(m, rank)) for rank in m.ranks()],
    ),
    Claim(
        "falls-in-entropy-too",
        "F, Table F.1",
        "By the entropy difference too, oversmoothing falls with each step of rank up to 32.",
        "Entropy of the truth less that of the model at each rank up to 32, less the same at the rank before.",
        lambda m: [
            less(f"entropy difference (bits), {b} less {a}", entropy(m, b), entropy(m, a))
            for a, b in m.steps(high=MOST)
        ],
    ),
]
