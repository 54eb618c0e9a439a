"""Claims of Godey et al. (2024) about models during training and constrained heads."""

import math

import numpy as np

from oversmoothing.claims.analyses import SEVERAL, Analyses
from oversmoothing.claims.choose import neighbours
from oversmoothing.claims.comparison import Comparison, Missing, compare, minus

MARKED = 0.1  # of a value: smaller changes do not count as a rise or fall
ALMOST_ALL = 0.9  # of the layers
SLIGHT = 0.01  # of the loss: less does not count as a cost


def layers_are_anisotropic(analyses: Analyses) -> list[Comparison]:
    """Test the share of blocks, over all models, that are more anisotropic after training than before."""
    layers = [f"anisotropy {layer}" for layer in range(1, analyses.blocks + 1)]
    blocks = [(layer, member) for member in analyses.family() for layer in layers]
    start, end = (
        np.concatenate([value(*block).means for block in blocks])
        for value in (analyses.at_the_start, analyses.at_the_end)
    )
    rise, much = end - start, MARKED * np.maximum(abs(start), abs(end))
    share, low, high = (float(np.mean(rise > bound)) for bound in (0, much, -much))
    name = f"share of {len(rise)} blocks that end more anisotropic than untrained"
    return [Comparison(name, share, low, high, ALMOST_ALL, interval="a tenth to spare")]


def few_dimensions_end_anisotropic(analyses: Analyses) -> list[Comparison]:
    """Compare the change in anisotropy of the head's input during training at the lowest and the highest rank."""
    lowest, *_, highest = analyses.several_ranks()
    measure = "head_input_anisotropy"
    low, high = (
        minus(analyses.at_the_end(measure, member), analyses.at_the_start(measure, member))
        for member in (lowest, highest)
    )
    name = f"anisotropy of what enters the head, gained by {lowest} and by {highest}"
    return [compare(low, high, name, analyses.chance)]


def singular_entropy_falls(analyses: Analyses) -> list[Comparison]:
    """Test for each model below the highest rank whether its singular entropy falls by more than a tenth.

    A Gaussian head, with which every training begins, has almost no singular entropy, so it always rises first. The
    fall is measured from the highest value. If that occurs after half of the steps, the size of the fall is
    undetermined.
    """
    found = []
    for member in analyses.several_ranks()[:-1]:
        for model in member.models:
            entropy = analyses.along(model)["singular_entropy"]
            highest, top = entropy.idxmax(), float(entropy.max())
            fall = top - float(entropy.loc[highest:].min())
            high = fall if highest <= entropy.index[-1] / 2 else math.inf
            name = f"singular entropy (nats), its highest less its lowest from there on, {model}"
            found.append(Comparison(name, fall, fall, high, MARKED * top, scale=top, interval="steps to come"))
    return found


def constrained_heads_lose(analyses: Analyses) -> list[Comparison]:
    """Compare the loss of each retrained head with that of the next higher rank."""
    return [
        compare(analyses.loss(a), analyses.loss(b), f"loss (nats per byte), {a} against {b}", analyses.chance)
        for a, b in neighbours(analyses.retrained, "in `retrained.ranks`")
    ]


def only_low_ranks_cost(analyses: Analyses) -> list[Comparison]:
    """Test whether the lowest constrained head costs more than slightly, and the highest does not."""
    trained = analyses.trained
    if len(analyses.retrained) < SEVERAL:
        raise Missing("it takes two ranks in `retrained.ranks`")
    lowest, *_, highest = analyses.retrained
    own, low, high = (analyses.loss(member) for member in (trained, lowest, highest))
    slight = SLIGHT * own.mean
    name = "loss (nats per byte)"
    return [
        compare(low, own, f"{name}, {lowest} against {trained}", analyses.chance, slight),
        compare(own, high, f"{name}, {trained} against {highest}", analyses.chance, -slight),
    ]
