"""What claims are tested on: numbers by seed from tables, of a run or as the thesis prints them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.claims.contrast import Missing
from oversmoothing.numerics.crossed import error_of_windows
from oversmoothing.scores.sums import positions_by_window
from oversmoothing.tables.published import read_published
from oversmoothing.tables.record import matches

FULL_RANK = 257  # of bytes: behind a LayerNorm a head of rank r has r - 1 free directions
NO_SEED = -1
WINDOWS = "window_means"  # the file of means by window, in the folder of tables
OF_TRUNCATED = ("table_7_1", "table_7_2", "table_h_1")  # the thesis's tables of truncated heads


@dataclass(frozen=True)
class Rank:
    """Models of one rank, one for each seed."""

    rank: int
    role: int  # the thesis's rank that it stands for (`published_as` in the config)

    @property
    def full(self) -> bool:
        """Whether its head leaves the logits unconstrained."""
        return self.rank >= FULL_RANK

    def __str__(self) -> str:
        return f"rank {self.rank}"


class Measured:
    """Tables by name, and the ranks of the family that they may speak of, ascending."""

    def __init__(self, tables: Mapping[str, pd.DataFrame], ranks: Iterable[Rank]) -> None:
        self._tables = tables
        self._means = dict[tuple[Any, ...], pd.Series]()  # claims ask for most of them several times
        self.family = sorted(ranks, key=lambda one: one.rank)

    def table(self, name: str) -> pd.DataFrame:
        """Return a table, or raise `Missing`."""
        if name not in self._tables:
            raise Missing(f"there is no table {name}")
        return self._tables[name]

    def values(self, table: str, measure: str, **where: Any) -> pd.Series:
        """Return the values of a measure by seed, their mean over truths and whatever `where` leaves open.

        `where` holds the values of columns, None of empty ones; without ``kind`` they are those of the family. A column
        that a table lacks restricts nothing. What has no seed, as a human text or a printed mean, has the seed
        `NO_SEED`.
        """
        key = (table, measure, *sorted(where.items()))
        if key not in self._means:
            self._means[key] = self._means_of(table, measure, where)
        return self._means[key]

    def _means_of(self, table: str, measure: str, where: Mapping[str, Any]) -> pd.Series:
        rows = self.table(table)
        keys = {"measure": measure, "kind": "family", **where}
        known = {column: value for column, value in keys.items() if column in rows}
        rows = rows.loc[matches(rows, **known) & rows.value.notna().to_numpy(), ["seed", "value"]]
        if rows.empty:
            of = ", ".join(str(value) for value in where.values() if value is not None)
            raise Missing(f"the table {table} has no {measure}{f' of {of}' if of else ''}")
        return rows.value.groupby(rows.seed.fillna(NO_SEED).astype(int)).mean()

    def error(self, measure: str, a: Rank, b: Rank) -> float:
        """Return the standard error, by the choice of the windows, of the mean at rank `a` less that at `b`."""
        return error_of_difference(self._tables.get(WINDOWS), measure, a.rank, b.rank)

    @property
    def truths(self) -> list[str]:
        """The truths of the main table."""
        scores = self._tables.get("oversmoothing", pd.DataFrame())
        return scores.truth.dropna().unique().tolist() if "truth" in scores and "seed" in scores else []

    def foreign(self) -> str:
        """Return the truth that was not trained here, as EvaByte is the thesis's."""
        losses = self.table("losses")
        trained = losses.model[(losses.kind == "truth") & (losses.measure == "validation_loss")]
        foreign = [truth for truth in self.truths if truth not in set(trained)]
        if not foreign:
            raise Missing("no truth was trained elsewhere")
        return foreign[0]

    def against(self, truth: str) -> "Measured":
        """Return what the run has measured without what it has measured against the other truths."""
        others = set(self.truths) - {truth}
        tables = dict(self._tables)
        if tables.pop("decodings_pooled", None) is not None and "decodings" in tables:
            tables["decodings_pooled"] = tables["decodings"]
        of_truth = {
            name: table[~table.truth.isin(others)] if "truth" in table else table for name, table in tables.items()
        }
        return Measured(of_truth, self.family)

    def ranks(self, low: float = 0, high: float = float("inf"), least: int = 1) -> list[Rank]:
        """Return the ranks that stand for the thesis's from `low` to `high`, of which there must be some."""
        found = [one for one in self.family if low <= one.role <= high]
        if len(found) < least:
            wanted = "a rank" if least == 1 else f"{least} ranks"
            ends = "" if low == 0 and high == float("inf") else f" from {low:g} to {high:g}"
            raise Missing(f"it takes {wanted}{ends}")
        return found

    def steps(self, low: float = 0, high: float = float("inf")) -> list[tuple[Rank, Rank]]:
        """Return pairs of each of these ranks and the next."""
        return list(pairwise(self.ranks(low, high, 2)))

    def full(self) -> Rank:
        """Return the rank whose head leaves the logits unconstrained."""
        for one in reversed(self.family):
            if one.full:
                return one
        raise Missing("no model of the family has full rank (257 or more, for 256 bytes)")


def error_of_difference(windows: pd.DataFrame | None, measure: str, a: int, b: int) -> float:
    """Return the standard error, by the choice of the windows, of a mean of the family at rank `a` less that at `b`.

    `windows` are those of `window_means.parquet`, of one truth or of several, over which the mean goes. Tables of older
    runs and printed ones have none: the error is 0 there, and a test is over seeds alone.
    """
    if windows is None:
        return 0.0
    own = windows[matches(windows, kind="family", measure=measure)]
    first, second = (
        own[own["rank"] == rank].pivot_table("value", "seed", "window", sort=True, observed=True) for rank in (a, b)
    )
    differences = (first - second).dropna()
    return error_of_windows(differences, positions_by_window(own)[differences.columns])


def of_run(tables: Mapping[str, pd.DataFrame], models: Sequence[Mapping[str, Any]]) -> Measured:
    """Return what a run has measured; `models` have ``kind``, ``rank`` and ``role`` (see the plan)."""
    return Measured(tables, {Rank(m["rank"], m["role"]) for m in models if m["kind"] == "family" and m["role"]})


def of_thesis(files: Mapping[str, Sequence[str | Path]]) -> Measured:
    """Return the thesis's printed means, from its tables by the name of ours; Table 3.1 has all ranks."""
    tables = {name: pd.concat(map(printed, paths), ignore_index=True) for name, paths in files.items() if paths}
    ranks = tables["losses"]["rank"].dropna().unique()
    return Measured(tables, [Rank(int(rank), int(rank)) for rank in ranks])


def printed(path: str | Path) -> pd.DataFrame:
    """Return printed means in columns of the record: of ranks they are of a kind, of names a truth's or a human's."""
    table = read_published([path]).rename(columns={"metric": "measure", "mean": "value", "count": "value"})
    rank = pd.to_numeric(table.model, errors="coerce").astype("Int64")
    kinds = table.model.map({"Human": "human"}).fillna("truth")
    kinds = kinds.where(rank.isna(), "svd" if Path(path).stem in OF_TRUNCATED else "family")
    return table.assign(rank=rank, kind=kinds, seed=pd.array([None] * len(table), "Int64"))
