"""The thesis's printed means, subjected to the same tests as a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.claims.comparison import Missing, Value
from oversmoothing.claims.evidence import Evidence, Source
from oversmoothing.claims.members import Member
from oversmoothing.tables.published import read_published

BOTH = "mean"  # the "truth" of a mean over both truths, in Tables 6.1 and F.1
NO_FIGURES = "the thesis shows it in a figure and prints no number"


class Published(Evidence):
    """The thesis's tables; `files` has the path of each by number, such as "3_1"."""

    def __init__(self, files: Mapping[str, str | Path]) -> None:
        self._files = files
        losses = self.table("3_1")
        names = list(dict.fromkeys(losses.model))
        ranks = sorted(int(name) for name in names if name.isdigit())
        self.family = [Member(f"rank {rank}", (str(rank),), (), rank, rank) for rank in ranks]
        self.truths = [Member(name, (name,), ()) for name in names if not name.isdigit()]
        svd = read_published([files["7_1"], files["7_2"]])
        cut = sorted(int(name) for name in svd.model.unique())
        self.truncations = [Member(f"SVD rank {rank}", (str(rank),), (), rank, rank) for rank in cut]
        self._losses = losses.set_index(["model", "metric"])["mean"]
        pooled = read_published([files["6_1"], files["f_1"]])
        alone = read_published([files["e_7"], files["e_8"]])
        scores = pd.concat([pooled[pooled.truth == BOTH], alone])
        self._scores = scores.set_index(["model", "metric", "decoding"])["mean"]
        self._svd = svd.groupby(["model", "metric"])["mean"].mean()  # over both truths

    def score(self, metric: str, member: Member, decoding: str = "pure") -> Value:
        if member in self.truncations:
            return cell(self._svd, member, metric)
        return cell(self._scores, member, metric, decoding)

    def loss(self, member: Member) -> Value:
        return cell(self._losses, member, "validation_loss")

    def loss_on_windows(self, member: Member) -> Value:
        raise Missing("the thesis prints validation losses alone")

    def accuracy(self, member: Member) -> Value:
        return cell(self._losses, member, "accuracy")

    def value(self, source: Source, member: Member, *key: str) -> Any:
        return source.printed(self, member, *key)

    def table(self, number: str) -> pd.DataFrame:
        """Return one of the thesis's tables."""
        return read_published(self._files[number])

    def by_frequency(self) -> list[int]:
        raise Missing(NO_FIGURES)


def cell(cells: pd.Series, member: Member, *key: str) -> Value:
    """Return the printed mean of a member, from means by model and key; or raise `Missing`."""
    name = (member.models[0], *key)
    if name not in cells.index or pd.isna(cells[name]):
        raise Missing(f"the thesis prints no {' '.join(key)} of {member}")
    return Value((float(cells[name]),))
