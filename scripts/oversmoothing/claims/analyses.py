"""What claims beyond the thesis's are tested on: tables of the studies, and retrained heads."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from oversmoothing.claims.comparison import Chance, Missing, Value
from oversmoothing.claims.members import Member
from oversmoothing.dynamics.table import last_layer, steps
from oversmoothing.losses import predictions
from oversmoothing.statistics import WindowSums

SEVERAL = 2  # members needed for a comparison


@dataclass(frozen=True)
class Analyses:
    """What the claims are tested on.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        Those available of the studies that have claims, such as ``along_training``.
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

    def several_ranks(self) -> list[Member]:
        """Return the family, or raise `Missing` if it has one rank only."""
        family = self.family()
        if len(family) < SEVERAL:
            raise Missing("it takes two ranks")
        return family

    @property
    def blocks(self) -> int:
        """Number of blocks of the models with snapshots."""
        return last_layer(self.table("along_training"))

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
