"""What claims beyond the thesis's are tested on: tables, and losses on the windows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.claims.comparison import Chance, Missing, Value
from oversmoothing.claims.members import Member
from oversmoothing.numerics.statistics import WindowSums
from oversmoothing.tables.losses import predictions

SEVERAL = 2  # members needed for a comparison


@dataclass(frozen=True)
class Analyses:
    """What the claims are tested on.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        Those available of the studies that have claims, by name.
    models : sequence of mappings
        As in `members.members`.
    logits : mapping of str to path
        By model.
    chance : Chance
    """

    tables: Mapping[str, pd.DataFrame]
    models: Sequence[Mapping[str, Any]]
    logits: Mapping[str, str | Path]
    chance: Chance

    def table(self, name: str) -> pd.DataFrame:
        """Return a table, or raise `Missing`."""
        if name not in self.tables:
            raise Missing(f"this run has no table {name}")
        return self.tables[name]

    def loss(self, member: Member) -> Value:
        """Return the mean loss over the scored bytes of all windows, in nats per byte."""
        sums: tuple[WindowSums, ...] = tuple(predictions(self.logits[model]).losses for model in member.models)
        return Value(tuple(own.mean for own in sums), member.trainings, "losses", sums)
