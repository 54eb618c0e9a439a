"""Claims of Godey et al. (2024) about models during training."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from oversmoothing.claims.analyses import SEVERAL, Analyses
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.comparison import Comparison, Missing, Value, compare, constant, minus
from oversmoothing.claims.members import Member
from studies.along_training.table import last_layer, steps

MARKED = 0.1  # of a value: smaller changes do not count as a rise or fall
ALMOST_ALL = 0.9  # of the layers
SATURATED = 0.01  # of the loss: a model saturates if its last loss is this far above its lowest


@dataclass(frozen=True)
class Trainings:
    """The models with snapshots of their training, by the table of them."""

    table: pd.DataFrame

    def members(self, least: int = SEVERAL) -> list[Member]:
        """Return the models of each rank, by ascending rank; `Missing` is raised if there are fewer ranks."""
        known = self.table.drop_duplicates("model").dropna(subset="rank")
        members = []
        for rank, alike in known.groupby("rank"):
            models = tuple(alike.model)
            members.append(Member(f"rank {int(rank)}", models, models, int(rank)))
        if len(members) < least:
            raise Missing("it takes two ranks")
        return members

    def by_step(self, model: str) -> pd.DataFrame:
        """Return a model's measures by step."""
        return steps(self.table, model)

    def at_the_start(self, measure: str, member: Member) -> Value:
        """Return a measure of the untrained model."""
        if any(self.by_step(model).index[0] != 0 for model in member.models):
            raise Missing(f"no snapshot of the untrained {member} was kept (`training.snapshots`)")
        return self._at(0, measure, member)

    def at_the_end(self, measure: str, member: Member) -> Value:
        """Return a measure at the last kept step."""
        return self._at(-1, measure, member)

    def _at(self, place: int, measure: str, member: Member) -> Value:
        means = tuple(float(self.by_step(model)[measure].iloc[place]) for model in member.models)
        return Value(means, member.trainings, "dynamics")


def layers_are_anisotropic(analyses: Analyses) -> list[Comparison]:
    """Test the share of blocks, over all models, that are more anisotropic after training than before."""
    trainings = Trainings(analyses.table("along_training"))
    layers = [f"anisotropy {layer}" for layer in range(1, last_layer(trainings.table) + 1)]
    blocks = [(layer, member) for member in trainings.members(1) for layer in layers]
    start, end = (
        np.concatenate([value(*block).means for block in blocks])
        for value in (trainings.at_the_start, trainings.at_the_end)
    )
    rise, much = end - start, MARKED * np.maximum(abs(start), abs(end))
    share, low, high = (float(np.mean(rise > bound)) for bound in (0, much, -much))
    name = f"share of {len(rise)} blocks that end more anisotropic than untrained"
    return [Comparison(name, share, low, high, ALMOST_ALL, interval="a tenth to spare")]


def few_dimensions_end_anisotropic(analyses: Analyses) -> list[Comparison]:
    """Compare the change in anisotropy of the head's input during training at the lowest and the highest rank."""
    trainings = Trainings(analyses.table("along_training"))
    lowest, *_, highest = trainings.members()
    measure = "head_input_anisotropy"
    low, high = (
        minus(trainings.at_the_end(measure, member), trainings.at_the_start(measure, member))
        for member in (lowest, highest)
    )
    name = f"anisotropy of what enters the head, gained by {lowest} and by {highest}"
    return [compare(low, high, name, analyses.chance)]


def singular_entropy_falls(analyses: Analyses) -> list[Comparison]:
    """Test for each rank below the highest whether its singular entropy falls by more than a tenth.

    A Gaussian head, with which every training begins, has almost no singular entropy, so it always rises first. The
    fall is measured from the highest value. If that occurs after half of the steps, the size of the fall is
    undetermined.
    """
    trainings = Trainings(analyses.table("along_training"))
    comparisons = []
    for member in trainings.members()[:-1]:
        entropies = [trainings.by_step(model)["singular_entropy"] for model in member.models]
        tops, late = [float(one.max()) for one in entropies], [one.idxmax() > one.index[-1] / 2 for one in entropies]
        falls = tuple(float(one.max() - one.loc[one.idxmax() :].min()) for one in entropies)
        top = float(np.mean(tops))
        name = f"singular entropy (nats), its highest less its lowest from there on, {member}"
        fall = Value(falls, member.trainings, "dynamics", size=top)
        compared = compare(fall, constant(0), name, analyses.chance, MARKED * top)
        high = math.inf if any(late) else compared.high
        comparisons.append(replace(compared, high=high, interval="steps to come"))
    return comparisons


def anisotropy_rises_where_it_saturates(analyses: Analyses) -> list[Comparison]:
    """Test whether the last block of a model that saturates ends more anisotropic than it was at the lowest loss."""
    last = last_layer(analyses.table("along_training"))
    return _after_the_best(analyses, f"anisotropy {last}", "anisotropy of the last block")


def singular_entropy_jumps_where_it_saturates(analyses: Analyses) -> list[Comparison]:
    """Test whether the singular entropy of a model that saturates ends above its value at the lowest loss."""
    return _after_the_best(analyses, "singular_entropy", "singular entropy (nats)")


def _after_the_best(analyses: Analyses, measure: str, name: str) -> list[Comparison]:
    trainings, comparisons = Trainings(analyses.table("along_training")), []
    for member in trainings.members()[:-1]:
        by_model = {model: trainings.by_step(model) for model in member.models}
        rising = {m: by for m, by in by_model.items() if by["loss"].iloc[-1] > (1 + SATURATED) * by["loss"].min()}
        if rising:
            lasts = tuple(float(by[measure].iloc[-1]) for by in rising.values())
            bests = tuple(float(by[measure][by["loss"].idxmin()]) for by in rising.values())
            last, best = (Value(means, tuple(rising), "dynamics") for means in (lasts, bests))
            of = f"{name}, at the end less at the lowest loss, {member}"
            comparisons.append(compare(last, best, of, analyses.chance, MARKED * best.scale))
    if not comparisons:
        raise Missing(f"no model saturates: no loss ends more than {SATURATED:.0%} above its lowest")
    return comparisons


CLAIMS = [
    Claim(
        "layers-are-anisotropic",
        "Godey et al., 4.1",
        "Training leaves almost all layers of all models anisotropic to some extent.",
        "Share of blocks whose mean cosine of all pairs of hidden states is higher at the end than in the "
        "untrained model, where it is already above 0; above nine in ten. The interval counts with a margin of a "
        "tenth, either way.",
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
        "An untrained head has almost none, so it rises first; if the highest value comes after half of the steps, "
        "the size of the fall is undetermined.",
        singular_entropy_falls,
    ),
    Claim(
        "anisotropy-rises-where-it-saturates",
        "Godey et al., 4.1",
        "Where a small model saturates, the anisotropy of its last layer jumps up.",
        "Of the models of each rank whose loss ends above its lowest: anisotropy at the end less at the lowest loss, "
        "above a tenth of it.",
        anisotropy_rises_where_it_saturates,
    ),
    Claim(
        "singular-entropy-jumps-where-it-saturates",
        "Godey et al., 4.2",
        "Where a small model saturates, the singular entropy of its head jumps up.",
        "Of the models of each rank whose loss ends above its lowest: singular entropy at the end less at the lowest "
        "loss, above a tenth of it.",
        singular_entropy_jumps_where_it_saturates,
    ),
]
