"""What claims beyond the thesis's are tested on: tables, and losses on the windows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.claims.comparison import Chance, Missing, Value
from oversmoothing.claims.evidence import over_windows
from oversmoothing.claims.members import Member
from oversmoothing.tables.losses import predictions

SEVERAL = 2  # members needed for a comparison


@dataclass(frozen=True)
class Analyses:
    """What the claims are tested on."""

    tables: Mapping[str, pd.DataFrame]  # by name: those available of the studies that have claims
    models: Sequence[Mapping[str, Any]]  # as in `members.members`
    logits: Mapping[str, str | Path]  # by model
    chance: Chance

    def table(self, name: str) -> pd.DataFrame:
        """Return a table, or raise `Missing`."""
        if name not in self.tables:
            raise Missing(f"this run has no table {name}")
        return self.tables[name]

    def loss(self, member: Member) -> Value:
        """Return the mean loss over the scored bytes of all windows, in nats per byte."""
        return over_windows(member, "losses", lambda model: predictions(self.logits[model]).losses)
