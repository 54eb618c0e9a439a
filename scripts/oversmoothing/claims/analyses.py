"""What claims beyond the thesis's are tested on: tables of the studies, and retrained heads."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from oversmoothing.claims.comparison import Chance, Missing, Value
from oversmoothing.claims.members import Member
from oversmoothing.losses import predictions
from oversmoothing.statistics import WindowSums

SEVERAL = 2  # members needed for a comparison


@dataclass(frozen=True)
class Analyses:
    """What the claims are tested on.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        Those available of the studies that have claims, by name.
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

    def loss(self, member: Member) -> Value:
        """Return the mean loss over the scored bytes of all windows, in nats per byte."""
        sums: tuple[WindowSums, ...] = tuple(predictions(self.logits[model]).losses for model in member.models)
        return Value(tuple(own.mean for own in sums), member.trainings, "losses", sums)
