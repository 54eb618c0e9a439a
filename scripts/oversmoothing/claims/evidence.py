"""Evidence for claims: the values of this run, each file read once and only when a claim needs it.

`Evidence` defines what a test may query; `Run` answers from the files of a run, and `published.Published` from the
thesis's tables, so that both undergo the same test. `Missing` is raised for values that are absent.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.claims.comparison import Chance, Comparison, Missing, Value, compare
from oversmoothing.claims.members import Member, members
from oversmoothing.numerics.statistics import WindowSums
from oversmoothing.scores.sums import sum_scores
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.losses import predictions
from oversmoothing.training.history import lowest_loss

POOLED = "all truths"
BY_POSITION = ["truth", "window", "position"]  # what names a row of a file of scores


@dataclass(frozen=True)
class Source:
    """A kind of value that a study measures: how a member's is found in a run, and in the thesis's tables."""

    name: str
    of_run: Callable[..., Any]  # from a `Run`, a member and further keys to a `Value`, or to what else its claims take
    printed: Callable[..., Any]  # the same from a `published.Published`


@dataclass(frozen=True)
class Margin:
    """How far one training is from the next in what a study measures, a key of `claims.run_to_run`."""

    name: str  # what varies, as the legend of the claims says it
    values: Callable[..., Sequence[Value]]  # from a `Run` and a member to what the margin is measured of
    decoded: Callable[..., Sequence[Value]] | None = None  # the same of a further decoding, its name


class Evidence(ABC):
    """What a test may query: trained models and truncated heads, both by ascending rank, and truths."""

    family: list[Member]
    truncations: list[Member]
    truths: list[Member]
    chance: Chance | None = None  # of printed means

    def compare(self, a: Value, b: Value, name: str, bound: float = 0.0) -> Comparison:
        """Compare `a` minus `b` with `bound`, which it is expected to exceed (see `comparison.compare`)."""
        return compare(a, b, name, self.chance, bound)

    @abstractmethod
    def score(self, metric: str, member: Member, decoding: str = "pure") -> Value:
        """Return the mean score over all positions; against truths, the mean over them (Table 6.1)."""

    @abstractmethod
    def loss(self, member: Member) -> Value:
        """Return the validation loss in nats per byte."""

    @abstractmethod
    def loss_on_windows(self, member: Member) -> Value:
        """Return the loss over the scored bytes of all windows, in nats per byte."""

    @abstractmethod
    def accuracy(self, member: Member) -> Value:
        """Return the share of bytes predicted correctly."""

    @abstractmethod
    def value(self, source: Source, member: Member, *key: str) -> Any:
        """Return a value of a study."""

    @abstractmethod
    def by_frequency(self) -> list[int]:
        """Return the bytes of the scored text, the most frequent first; ties by the byte's number."""


class Run(Evidence):
    """The files of a run, by kind and model: ("tto", "bn4-s1337"), ("windows", ""), ("tables", "oversmoothing")."""

    def __init__(
        self,
        files: Mapping[tuple[str, str], str | Path],
        models: Sequence[Mapping[str, Any]],
        decodings: Sequence[str],
        chance: Chance,
    ) -> None:
        self.family, self.truths = members(models, "family"), members(models, "truth")
        self.truncations = members(models, "svd", "SVD rank")
        self.chance = chance
        self._files = files
        self._decodings = decodings
        self._scores = cache(self._read_scores)
        self._predictions = cache(lambda model: predictions(self.path("logits", model)))

    def score(self, metric: str, member: Member, decoding: str = "pure") -> Value:
        if decoding not in self._decodings:
            raise Missing(f"{decoding} is not among the `decodings`")
        return over_windows(member, metric, lambda model: self._scores(metric, model)[decoding], self.repeats)

    def loss(self, member: Member) -> Value:
        means = tuple(lowest_loss(self.path("history", model)) for model in member.models)
        return Value(means, member.trainings, "losses")

    def loss_on_windows(self, member: Member) -> Value:
        return over_windows(member, "losses", lambda model: self._predictions(model).losses)

    def accuracy(self, member: Member) -> Value:
        return over_windows(member, "accuracies", lambda model: self._predictions(model).right)

    def value(self, source: Source, member: Member, *key: str) -> Any:
        return source.of_run(self, member, *key)

    def positions(self, what: str, model: str, *columns: str) -> pd.DataFrame:
        """Return columns of a file with one row per position and truth, indexed by `BY_POSITION`."""
        table = read_table(self.path(what, model), [*BY_POSITION, *columns]).to_pandas()
        return table.astype({"truth": str}).set_index(BY_POSITION)

    def mean(self, what: str, column: str, member: Member, kind: str = "") -> Value:
        """Return the mean of a column of such files over all positions and truths."""

        def sums(model: str) -> WindowSums:
            return sums_by_window(self.positions(what, model, column)[column])

        return over_windows(member, kind, sums, self.repeats)

    @property
    def repeats(self) -> int:
        """How many values a file of scores has of a position: one for each truth."""
        return max(len(self.truths), 1)

    def by_frequency(self) -> list[int]:
        text = b"".join(read_table(self.path("windows", ""), ["scored"])["scored"].to_pylist())
        counts = np.bincount(np.frombuffer(text, np.uint8), minlength=256)
        return sorted(np.flatnonzero(counts).tolist(), key=lambda byte: -counts[byte])

    def path(self, what: str, whose: str) -> str | Path:
        """Return the path of a file, or raise `Missing`."""
        if (what, whose) not in self._files:
            raise Missing(f"there is no {what} of {whose}")
        return self._files[what, whose]

    def _read_scores(self, metric: str, model: str) -> dict[str, WindowSums]:
        sums = sum_scores(self.path(metric, model), self._decodings, POOLED)
        return {decoding: by_window for (_, decoding), by_window in sums.items()}


def over_windows(member: Member, kind: str, sums_of: Callable[[str], WindowSums], repeats: int = 1) -> Value:
    """Return the means of a member's models over all windows, from the sums by window of each."""
    sums = tuple(sums_of(model) for model in member.models)
    return Value(tuple(by_window.mean for by_window in sums), member.trainings, kind, sums, repeats=repeats)


def sums_by_window(values: pd.Series) -> WindowSums:
    """Sum values indexed by `BY_POSITION` by window."""
    sums = WindowSums()
    sums.add(values.index.get_level_values("window").to_numpy(np.int64), values.to_numpy(np.float64))
    return sums
