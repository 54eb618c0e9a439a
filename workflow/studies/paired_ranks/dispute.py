"""Claims about expressivity and optimisation (Godey and Artzi 2026; Murugan 2026), and our own.

All contrasts are over seeds: of each model with the full head of its seed.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing
from oversmoothing.numerics.statistics import student_interval
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.record import chosen
from studies.paired_ranks.gradient import mean_shares
from studies.paired_ranks.paired import EQUAL_LOSS, FULL, SLOWDOWN
from studies.paired_ranks.square import costs

SUPPRESSED = 0.95  # of the gradient's squared norm: the lower end of what Godey and Artzi report
FAR_BELOW = 0.05  # of the classes: a head with as many dimensions suppresses that much whatever it has learned
SLIGHT = 0.01  # of the full head's loss: less counts as no harm
ALIKE = 0.1  # of the full head's value at equal loss: less counts as the same leak
PREDICTS = -0.7  # correlation of share and loss from which the one predicts the other
LEARNED = ("family", "plain", "backward")


@dataclass(frozen=True)
class Arms:
    """What the claims are tested on: tables of `paired.per_seed` and `gradient.gradient_table`."""

    by_seed: pd.DataFrame
    gradient: pd.DataFrame
    classes: int | None = 256  # of the heads; None: those of a tokenizer, too many to matter

    def cells(self, measure: str, *kinds: str, less: str | None = FULL) -> list[tuple[str, int, pd.Series]]:
        """Return kind, rank, and values by seed, of each way and rank; `Missing` without any."""
        alike = chosen(self.by_seed, measure=measure, less=less)
        cells = [
            (kind, int(rank), rows.groupby("seed").value.mean())
            for kind in kinds
            for rank, rows in alike[alike.kind == kind].groupby("rank")
        ]
        if not cells:
            raise Missing(f"no arm of this study: {', '.join(TITLES[kind] for kind in kinds)}")
        return cells

    def full(self, measure: str) -> pd.Series:
        """Return what the full model of each seed shows."""
        return chosen(self.by_seed, kind="family", measure=measure, less=None).groupby("seed").value.mean()

    def both(self, measure: str, one: str, other: str) -> list[tuple[int, pd.Series, pd.Series]]:
        """Return rank and the differences by seed of two ways, at each rank that both have."""
        a, b = ({rank: by_seed for _, rank, by_seed in self.cells(measure, kind)} for kind in (one, other))
        if not set(a) & set(b):
            raise Missing(f"no rank at which there is both {TITLES[one]} and {TITLES[other]}")
        return [(rank, *a[rank].align(b[rank], join="inner")) for rank in sorted(set(a) & set(b))]


def gradient_is_compressed(arms: Arms) -> list[Contrast]:
    """Test the share of the gradient's squared norm that a trained full head does not pass."""
    ends = arms.gradient[arms.gradient.step == arms.gradient.groupby("model").step.transform("max")]
    shares = ends[(ends.kind == "family") & (ends.measure == "gradient_share")]
    full = shares[shares["rank"] == shares["rank"].max()]
    if full.empty:
        raise Missing("no full head with snapshots (`training.snapshots`)")
    d, v = int(full["rank"].max()), arms.classes
    if v and d > FAR_BELOW * v:
        chance = f"{max(0, 1 - d / v):.0%} whatever it has learned" if d < v else "nothing"
        raise Missing(f"said of heads with d far below v; with d = {d} and v = {v} a head suppresses {chance}")
    return [_contrast("share of the gradient that the full head suppresses", 1 - full.value, SUPPRESSED)]


def rank_slows(arms: Arms) -> list[Contrast]:
    """Test whether a plain head of each rank takes more steps than the full head to the lowest loss of both."""
    slower = []
    for _, rank, by_seed in arms.cells(SLOWDOWN, "plain", less=None):
        ratios = by_seed.to_numpy()
        if not ((ratios > 0) & np.isfinite(ratios)).all():
            raise Missing(f"a model of rank {rank} has its lowest loss at the start")
        slower.append(_contrast(f"octaves of steps to equal loss, plain head of rank {rank}", np.log2(ratios)))
    return slower


def backward_rank_costs(arms: Arms) -> list[Contrast]:
    """Compare the loss of each backward rank with that of the full head."""
    return [
        _contrast(f"loss (nats per byte), backward rank {rank} against full", by_seed)
        for _, rank, by_seed in arms.cells("loss", "backward")
    ]


def less(one: str, other: str, name: str, arms: Arms) -> list[Contrast]:
    """Compare the loss of one way with that of another at each rank that both have."""
    return [
        _contrast(f"loss (nats per byte), {name}, rank {rank}", a - b) for rank, a, b in arms.both("loss", one, other)
    ]


def share_does_not_predict(arms: Arms) -> list[Contrast]:
    """Correlate the share of the gradient that passes with the final loss, over arms and ranks of each seed."""
    models = mean_shares(arms.gradient)
    if models.groupby(["kind", "rank"]).ngroups < 4:
        raise Missing("it takes four arms or ranks with snapshots (`training.snapshots`)")
    name = "Pearson's r of the share of the gradient that passes and the final loss, over arms"
    by_seed = [float(part.share.corr(part.loss)) for _, part in models.groupby("seed")]
    return [_contrast(name, by_seed, PREDICTS)]


def wide_retrained_heads_cost_nothing(arms: Arms) -> list[Contrast]:
    """Test whether the retrained head of the highest rank loses at most slightly more than the full head."""
    _, rank, by_seed = arms.cells("loss", "retrained")[-1]
    name = f"loss (nats per byte), full head against a retrained one of rank {rank}"
    return [_contrast(name, -by_seed, -SLIGHT * arms.full("loss")[by_seed.index].mean())]


def most_is_learning(arms: Arms) -> list[Contrast]:
    """Test whether a head retrained on a full trunk costs less than half of what a plain head from scratch costs."""
    return [
        _contrast(
            f"half of a plain head's cost less that of the retrained head (nats per byte), rank {rank}",
            plain / 2 - retrained,
        )
        for rank, plain, retrained in arms.both("loss", "plain", "retrained")
    ]


def most_sits_in_the_trunk(arms: Arms) -> list[Contrast]:
    """Test whether a full head on a plain head's trunk keeps more than half of what both cost, where they cost."""
    every = costs(arms.by_seed, "loss")
    closed = [(rank, cells) for rank, cells in every if student_interval(cells.own_trunk.tolist())[1] > 0]
    if not closed:
        raise Missing("at no rank is the square closed (`retrained.square`) and its cost distinguishable from 0")
    return [
        _contrast(
            f"what a full head loses on the trunk, less half of what both cost (nats per byte), rank {rank}",
            cells.full_head - cells.own_trunk / 2,
        )
        for rank, cells in closed
    ]


def leaks_alike(arms: Arms) -> list[Contrast]:
    """Test whether TTO at equal loss is within a tenth of the full head's, for all models trained from the start.

    An arm of which a seed ends below all that its full model reaches has no equal loss, and no contrast.
    """
    alike = []
    ends = {(kind, rank): arms.full("tto") + by_seed for kind, rank, by_seed in arms.cells("tto", *LEARNED)}
    for kind, rank, by_seed in arms.cells("tto", *LEARNED, less=EQUAL_LOSS):
        if not by_seed.isna().any():
            bound = ALIKE * (ends[kind, rank] - by_seed).mean()
            alike.append(_contrast(f"TTO at equal loss, {TITLES[kind]}, rank {rank}", by_seed, -bound, bound))
    if not alike:
        raise Missing("every arm has a seed that ends below all that its full model reaches")
    return alike


def _contrast(name: str, values: Iterable[float], above: float = 0.0, below: float = math.inf) -> Contrast:
    by_seed = tuple(map(float, values))
    scale = max(abs(sum(by_seed) / len(by_seed)), abs(above), 1e-12)
    return Contrast(name, by_seed, above, below, scale=scale)


DISPUTE = [
    Claim(
        "gradient-is-compressed",
        "Godey & Artzi 2026",
        "A head with far fewer dimensions than tokens suppresses at least 95 % of the gradient of the logits.",
        "Share of its squared norm outside the column space of the full head, at the end of training, above 0.95; of "
        "heads with fewer dimensions than 5 % of the classes.",
        gradient_is_compressed,
        published="95 to 99 % in GPT-2, Pythia, Llama 3 and Qwen 3",
    ),
    Claim(
        "rank-slows-learning",
        "Godey & Artzi 2026",
        "The lower the rank of a head W = A B, the longer a model takes to a given loss.",
        "Steps of the plain head over those of the full head, to the lowest loss that both reach, in octaves, above 0 "
        "at each rank.",
        rank_slows,
        published="16 times the tokens at rank 32 against 4096",
    ),
    Claim(
        "backward-rank-costs",
        "Murugan 2026",
        "A gradient of lower rank costs loss although the head can express everything.",
        "Loss of each backward rank less that of the full head, above 0.",
        backward_rank_costs,
        published="+0.063 at 16, +0.080 at 8, +0.202 at 4 nats",
    ),
    Claim(
        "forward-rank-costs-more",
        "Murugan 2026",
        "A head W = A B of the same rank costs more than that gradient.",
        "Loss of the plain head less that of the backward rank, above 0 at each rank.",
        partial(less, "plain", "backward", "plain head against backward rank"),
        published="+0.081 at 16, +0.103 at 8, +0.091 at 4 nats",
    ),
    Claim(
        "matched-rank-costs-more",
        "ours",
        "A head W = A B that starts as large as a full head still costs more than that gradient.",
        "Loss of the plain head with a matched start less that of the backward rank, above 0 at each rank.",
        partial(less, "matched", "backward", "plain head with a matched start against backward rank"),
    ),
    Claim(
        "small-start-costs",
        "ours",
        "A head W = A B costs more for starting smaller than a full head.",
        "Loss of the plain head less that of one with a matched start, above 0 at each rank.",
        partial(less, "plain", "matched", "plain head as it starts against a matched start"),
    ),
    Claim(
        "share-does-not-predict",
        "Murugan 2026",
        "How much of the gradient a head lets through does not predict how far the model gets.",
        "Pearson's r of that share, its mean along training, and the final loss, over these arms and ranks, within "
        "each seed; above -0.7.",
        share_does_not_predict,
        published="in words",
    ),
    Claim(
        "wide-retrained-heads-cost-nothing",
        "ours",
        "On the trunk of a full head, a head of the highest rank retrained is not worse than the full head.",
        "Loss of the full head less that of the retrained head of the highest rank, above minus 1 % of it.",
        wide_retrained_heads_cost_nothing,
    ),
    Claim(
        "most-is-learning",
        "ours",
        "On the trunk of a full head, a head of low rank costs less than half of what it costs learned from scratch.",
        "Half of the loss that a plain head costs less what the retrained head costs, above 0 at each rank.",
        most_is_learning,
    ),
    Claim(
        "most-sits-in-the-trunk",
        "ours",
        "Most of what a head of low rank costs sits in the trunk that was trained behind it.",
        "What a full head retrained on the trunk of a plain one loses, less half of what a plain head retrained there "
        "loses, both over a full head retrained on its own trunk; above 0 at each rank at which the latter is.",
        most_sits_in_the_trunk,
    ),
    Claim(
        "equal-loss-equal-leak",
        "ours",
        "At equal loss all models trained from the start leak alike, wherever their rank is imposed.",
        "TTO less that of the full head where its loss is the same, within a tenth of it, for each rank of a head "
        "learned from scratch, with and without LayerNorm, and of a gradient.",
        leaks_alike,
    ),
]
