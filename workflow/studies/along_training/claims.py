"""Claims of Godey et al. (2024) about models during training."""

from collections.abc import Callable

import pandas as pd

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing
from oversmoothing.claims.measured import Measured
from studies.along_training.table import steps

MARKED = 0.1  # of a value: smaller changes do not count as a rise or fall
ALMOST_ALL = 0.9  # of the layers
SATURATED = 0.01  # of the loss: a model saturates if its last loss is this far above its lowest
INPUT = "head_input_anisotropy"


def by_step(m: Measured) -> dict[int, dict[int, pd.DataFrame]]:
    """Return the measures by step of each training, by rank, ascending, and seed."""
    table = m.table("along_training")
    models = table.dropna(subset="rank").drop_duplicates("model").sort_values("rank", kind="stable")
    found: dict[int, dict[int, pd.DataFrame]] = {}
    for model in models.itertuples():
        found.setdefault(int(model.rank), {})[model.seed] = steps(table, model.model)
    return found


def below_the_highest(m: Measured) -> dict[int, dict[int, pd.DataFrame]]:
    """Return the trainings of each rank but the highest."""
    found = by_step(m)
    if len(found) < 2:
        raise Missing("it takes two ranks")
    return dict(list(found.items())[:-1])


def gained(along: pd.DataFrame, measure: str) -> float:
    """Return a measure at the last kept step less that of the untrained model."""
    if along.index[0] != 0:
        raise Missing("no snapshot of an untrained model was kept (`training.snapshots`)")
    return float(along[measure].iloc[-1] - along[measure].iloc[0])


def layers_are_anisotropic(m: Measured) -> list[Contrast]:
    """Hold the share of blocks that are more anisotropic after training than before to above nine in ten, by seed."""
    rises: dict[int, list[bool]] = {}
    for of_rank in by_step(m).values():
        for seed, along in of_rank.items():
            layers = [name for name in along if name.startswith("anisotropy ")]
            rises.setdefault(seed, []).extend(gained(along, layer) > 0 for layer in layers)
    shares = tuple(sum(rise) / len(rise) for rise in rises.values())
    return [Contrast("share of blocks that end more anisotropic than untrained", shares, ALMOST_ALL)]


def few_dimensions_end_anisotropic(m: Measured) -> list[Contrast]:
    """Contrast the anisotropy of the head's input gained in training at the lowest rank with that at the highest."""
    below_the_highest(m)  # which raises `Missing` of a single rank
    (lowest, low), *_, (highest, high) = by_step(m).items()
    values = tuple(gained(low[seed], INPUT) - gained(high[seed], INPUT) for seed in low if seed in high)
    return [Contrast(f"anisotropy of what enters the head, gained by rank {lowest} less by {highest}", values)]


def singular_entropy_falls(m: Measured) -> list[Contrast]:
    """Hold the fall of singular entropy at each rank below the highest to above a tenth of its highest value.

    A Gaussian head, with which every training begins, has almost no singular entropy, so it always rises first. The
    fall is measured from the highest value. If that occurs after half of the steps, the fall cannot be seen.
    """
    found = []
    for rank, trainings in below_the_highest(m).items():
        entropies = [along["singular_entropy"] for along in trainings.values()]
        if any(one.idxmax() > one.index[-1] / 2 for one in entropies):
            continue
        falls = tuple(float(1 - one.loc[one.idxmax() :].min() / one.max()) for one in entropies)
        found.append(Contrast(f"fall of singular entropy as a share of its highest value, rank {rank}", falls, MARKED))
    if not found:
        raise Missing("the highest singular entropy comes after half of the steps: a longer training may show a fall")
    return found


def small_models_saturate(m: Measured) -> list[Contrast]:
    """Hold the last loss of each rank below the highest to above its lowest by one in a hundred.

    Of smaller models: "a drop in performance at some advanced point in training followed by a plateau." (abstract)
    """
    ends = {rank: [by["loss"] for by in trainings.values()] for rank, trainings in below_the_highest(m).items()}
    return [
        Contrast(
            f"last loss relative to the lowest, less 1, rank {rank}",
            tuple(float(loss.iloc[-1] / loss.min() - 1) for loss in losses),
            SATURATED,
        )
        for rank, losses in ends.items()
    ]


def after_the_best(measure: Callable[[Measured], str]) -> Callable[[Measured], list[Contrast]]:
    """Return the test whether a measure of models that saturate ends a tenth above its value at the lowest loss."""

    def test(m: Measured) -> list[Contrast]:
        found = []
        for rank, trainings in below_the_highest(m).items():
            rising = [by for by in trainings.values() if by["loss"].iloc[-1] > (1 + SATURATED) * by["loss"].min()]
            if rising:
                name = measure(m)
                gains = tuple(float(by[name].iloc[-1] / by[name][by["loss"].idxmin()] - 1) for by in rising)
                found.append(Contrast(f"{name}, relative to its value at the lowest loss, rank {rank}", gains, MARKED))
        if not found:
            raise Missing(f"no model saturates: no loss ends more than {SATURATED:.0%} above its lowest")
        return found

    return test


CLAIMS = [
    Claim(
        "small-models-saturate",
        "Godey et al., 3",
        "Small models saturate: late in training their loss rises again.",
        "Loss at the end of each rank below the highest, as a share above its lowest along training: above 1 %.",
        small_models_saturate,
    ),
    Claim(
        "layers-are-anisotropic",
        "Godey et al., 4.1",
        "Training leaves almost all layers of all models anisotropic to some extent.",
        "Share of blocks whose mean cosine of all pairs of hidden states is higher at the end than in the "
        "untrained model, where it is already above 0; above nine in ten.",
        layers_are_anisotropic,
    ),
    Claim(
        "few-dimensions-end-anisotropic",
        "Godey et al., 4.1",
        "Training makes the head's input more anisotropic in models with few dimensions than in those with many.",
        "Mean cosine of all pairs at the end less that of the untrained model: at the lowest rank less at the highest.",
        few_dimensions_end_anisotropic,
    ),
    Claim(
        "singular-entropy-falls",
        "Godey et al., 4.2",
        "As a small model trains, the singular values of its head become more equal: its singular entropy falls.",
        "Each rank below the highest: the highest singular entropy less the lowest that follows, above a tenth of it. "
        "An untrained head has almost none, so it rises first; a rank whose highest value comes after half of the "
        "steps is left out.",
        singular_entropy_falls,
    ),
    Claim(
        "anisotropy-rises-where-it-saturates",
        "Godey et al., 4.1",
        "Where a small model saturates, the anisotropy of its last layer jumps up.",
        "Of the models of each rank whose loss ends above its lowest: anisotropy at the end less at the lowest loss, "
        "above a tenth of it.",
        after_the_best(lambda m: f"anisotropy {m.table('along_training').layer.max():.0f}"),
    ),
    Claim(
        "singular-entropy-jumps-where-it-saturates",
        "Godey et al., 4.2",
        "Where a small model saturates, the singular entropy of its head jumps up.",
        "Of the models of each rank whose loss ends above its lowest: singular entropy at the end less at the lowest "
        "loss, above a tenth of it.",
        after_the_best(lambda m: "singular_entropy"),
    ),
]
