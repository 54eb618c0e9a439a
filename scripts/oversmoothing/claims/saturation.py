"""Claims about saturation (Godey et al. 2024): during training, constrained heads, the language, and the fit."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from oversmoothing.claims.choose import neighbours
from oversmoothing.claims.comparison import RESIDUALS, Chance, Comparison, Missing, Value, compare, minus
from oversmoothing.claims.members import Member
from oversmoothing.dynamics.table import last_layer, steps
from oversmoothing.losses import predictions
from oversmoothing.statistics import WindowSums

SATURATED = 0.01  # of the loss: a final loss this far above its lowest is saturation
MARKED = 0.1  # of a value: smaller changes do not count as a rise, fall or jump
ALMOST_ALL = 0.9  # of the layers
SLIGHT = 0.01  # of the loss: less does not count as a cost
NOTICEABLE = 0.1  # W-error
CONTEXTS = "contexts, in halves"  # source of the interval of the W-error
SEVERAL = 2  # members needed for a comparison


@dataclass(frozen=True)
class Analyses:
    """What the claims are tested on.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        Those available of ``along_training``, ``language_dimensionality`` and ``saturation``.
    retrained : list of Member
        Retrained heads by ascending rank; their training is that of the model in front of them.
    logits : mapping of str to path
        By model: of the retrained heads and of the models in front of them.
    chance : Chance
    """

    tables: Mapping[str, pd.DataFrame]
    retrained: list[Member]
    logits: Mapping[str, str | Path]
    chance: Chance

    @property
    def trained(self) -> Member:
        """The models whose heads were retrained, with their original heads."""
        if not self.retrained:
            raise Missing("no head W = A B was retrained (`retrained.ranks`, `retrained.norm`)")
        models = self.retrained[0].trainings
        return Member("the trained head", models, models)

    def table(self, name: str) -> pd.DataFrame:
        """Return a table, or raise `Missing`."""
        if name not in self.tables:
            raise Missing(f"this run has no table {name}")
        return self.tables[name]

    def family(self) -> list[Member]:
        """Return the models with snapshots of training, by ascending rank."""
        table = self.table("along_training").drop_duplicates("model")
        ranks = sorted(table["rank"].dropna().unique())
        models = [tuple(table.model[table["rank"] == rank]) for rank in ranks]
        return [Member(f"rank {int(rank)}", own, own, int(rank)) for rank, own in zip(ranks, models, strict=True)]

    def along(self, model: str) -> pd.DataFrame:
        """Return a model's measures by step."""
        return steps(self.table("along_training"), model)

    def at_the_start(self, measure: str, member: Member) -> Value:
        """Return a measure of the untrained model."""
        values = [self.along(model)[measure] for model in member.models]
        if any(value.index[0] != 0 for value in values):
            raise Missing(f"no snapshot of the untrained {member} was kept (`training.snapshots`)")
        return Value(tuple(float(value.iloc[0]) for value in values), member.trainings, "dynamics")

    def at_the_end(self, measure: str, member: Member) -> Value:
        """Return a measure at the last kept step."""
        means = tuple(float(self.along(model)[measure].iloc[-1]) for model in member.models)
        return Value(means, member.trainings, "dynamics")

    def loss(self, member: Member) -> Value:
        """Return the mean loss over the scored bytes of all windows, in nats per byte."""
        sums: tuple[WindowSums, ...] = tuple(predictions(self.logits[model]).losses for model in member.models)
        return Value(tuple(own.mean for own in sums), member.trainings, "losses", sums)


def small_models_end_above_the_fit(analyses: Analyses) -> list[Comparison]:
    """Test whether each model smaller than all those that the law is fitted to ends above it."""
    table = analyses.table("saturation")
    own = table[table.quantity == "above_last"]
    fitted = own.fitted.astype(bool)
    if not fitted.any():
        raise Missing("the law is fitted on no model (`saturation.fitted`)")
    own = own[~fitted & (own.parameters < own.parameters[fitted].min())]
    if own.empty:
        raise Missing("no model is smaller than those that the law is fitted on (`saturation.fitted`)")
    if own.value.isna().any():
        raise Missing(str(own.note[own.value.isna()].iloc[0]))
    return [
        Comparison(
            f"last loss above the law (%), {row['model']}", row["value"], row["low"], row["high"], interval=RESIDUALS
        )
        for row in own.to_dict("records")
    ]


def layers_are_anisotropic(analyses: Analyses) -> list[Comparison]:
    """Test the share of blocks, over all models, that are more anisotropic after training than before."""
    layers = [f"anisotropy {layer}" for layer in range(1, last_layer(analyses.table("along_training")) + 1)]
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
    lowest, *_, highest = _two(analyses)
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
    for member in _two(analyses)[:-1]:
        for model in member.models:
            entropy = analyses.along(model)["singular_entropy"]
            highest, top = entropy.idxmax(), float(entropy.max())
            fall = top - float(entropy.loc[highest:].min())
            high = fall if highest <= entropy.index[-1] / 2 else math.inf
            name = f"singular entropy (nats), its highest less its lowest from there on, {model}"
            found.append(Comparison(name, fall, fall, high, MARKED * top, scale=top, interval="steps to come"))
    return found


def singular_entropy_jumps_at_saturation(analyses: Analyses) -> list[Comparison]:
    """Test whether the singular entropy of a model that saturates ends above its value at the lowest loss."""
    return _after_the_best(analyses, "singular_entropy", "singular entropy (nats)")


def anisotropy_rises_at_saturation(analyses: Analyses) -> list[Comparison]:
    """Test whether the last block of a model that saturates ends more anisotropic than it was at the lowest loss."""
    last = last_layer(analyses.table("along_training"))
    return _after_the_best(analyses, f"anisotropy {last}", "anisotropy of the last block")


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


def language_needs_more(analyses: Analyses) -> list[Comparison]:
    """Compare what heads of the family's ranks and of 1,000 dimensions must lose of the language with a tenth.

    This is the W-error of the longest contexts of byte pairs without sampling noise. The W-error as counted is
    unsuitable: it is as high for a shuffled text, whose true matrix has one dimension.
    """
    table = analyses.table("language_dimensionality")
    own = table[(table.token == "byte pair") & (table.text == "train") & table.w_error.notna()]
    if own.empty:
        raise Missing("no byte pairs were counted (`language.vocabulary`)")
    own = own[(own.context == own.context.max()) & (own.dimensions < own.v)]
    known = own.dropna(subset=["without_noise"])
    if known.empty:
        raise Missing(
            f"too little text: {own.contexts_seen.iloc[0]:,} of {own.contexts.iloc[0]:,} contexts of "
            f"{own.context.iloc[0]} byte pairs are seen often enough (`language.seen`, `language.bytes`)"
        )
    return [
        Comparison(
            f"W-error without noise at {row['dimensions']} dimensions of {row['v']}",
            row["without_noise"],
            row["without_noise_low"],
            row["without_noise_high"],
            NOTICEABLE,
            interval=CONTEXTS,
        )
        for row in known.to_dict("records")
    ]


def _after_the_best(analyses: Analyses, measure: str, name: str) -> list[Comparison]:
    found = []
    for member in _two(analyses)[:-1]:
        for model in member.models:
            along = analyses.along(model)
            if along["loss"].iloc[-1] > (1 + SATURATED) * along["loss"].min():
                best, last = float(along[measure][along["loss"].idxmin()]), float(along[measure].iloc[-1])
                bound = MARKED * abs(best)
                found.append(_plain(f"{name}, at the end less at the lowest loss, {model}", last - best, bound))
    if not found:
        raise Missing(f"no model saturates: no loss ends more than {SATURATED:.0%} above its lowest")
    return found


def _two(analyses: Analyses) -> list[Member]:
    family = analyses.family()
    if len(family) < SEVERAL:
        raise Missing("it takes two ranks")
    return family


def _plain(name: str, value: float, bound: float = 0.0, scale: float = 1.0) -> Comparison:
    """Return a comparison of a number that has no interval."""
    return Comparison(name, value, value, value, bound, scale=scale)
