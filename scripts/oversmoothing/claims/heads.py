"""Claims of our own: what heads force of the KL to the truth, and what BAT rejects beside a cut of the same size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from oversmoothing.claims.choose import MODERATE, each, full_rank
from oversmoothing.claims.comparison import Chance, Comparison, Missing, Outcome, Value, compare, constant
from oversmoothing.claims.members import Member
from oversmoothing.statistics import WindowSums
from oversmoothing.store.parquet import read_table

LOWEST, LOW = 4, (4, 8)
MOST = 0.5  # of the KL
LITTLE = 0.2  # of the KL
ALL = 0.9  # of what a rank costs: a tenth is a difference that the thesis considers none
BY_POSITION = ["truth", "window", "position"]


@dataclass(frozen=True)
class Heads:
    """What the claims are tested on.

    Attributes
    ----------
    family : list of Member
        By ascending rank.
    files : mapping of (str, str) to path
        By ("forced", model) and ("bat_premise", model): files under ``scores/``.
    chance : Chance
    """

    family: list[Member]
    files: Mapping[tuple[str, str], str | Path]
    chance: Chance

    def of_rank(self, rank: int) -> Member:
        """Return the member of a rank; `Missing` without one."""
        for member in self.family:
            if member.rank == rank:
                return member
        raise Missing(f"no model has rank {rank}")

    def read(self, what: str, model: str, *columns: str) -> pd.DataFrame:
        """Return columns of a file, one row per position and truth, indexed by `BY_POSITION`."""
        if (what, model) not in self.files:
            raise Missing(f"there is no {what} of {model}")
        table = read_table(self.files[what, model], [*BY_POSITION, *columns]).to_pandas()
        return table.astype({"truth": str}).set_index(BY_POSITION)

    def mean(self, what: str, column: str, member: Member, kind: str = "") -> Value:
        """Return the mean of a column over all positions and truths."""
        sums = tuple(_sums(self.read(what, model, column)[column]) for model in member.models)
        return Value(tuple(own.mean for own in sums), member.trainings, kind, sums)

    def share(self, part: str, member: Member) -> Value:
        """Return the mean of "forced" or of "rest" as a share of the mean KL to the truth."""
        scores = [self.read("forced", model, part, "kl") for model in member.models]
        return _share(member, "forced_of_kl", [(own[part], own.kl) for own in scores])

    def share_of_cost(self, member: Member) -> Value:
        """Return what the head forces as a share of the KL beyond that of the full-rank model of the same seed."""
        pairs = []
        for model, other in zip(member.models, full_rank(self.family).models, strict=True):
            own = self.read("forced", model, "forced", "kl")
            pairs.append((own.forced, own.kl - self.read("forced", other, "kl").kl))
        return _share(member, "forced_of_cost", pairs)


def most_is_forced_at_4(heads: Heads) -> list[Comparison]:
    """Test whether more than half of the KL to the truth is forced at rank 4."""
    member = heads.of_rank(LOWEST)
    name = f"share of the KL that the head forces, {member}"
    return [compare(heads.share("forced", member), constant(0), name, heads.chance, MOST)]


def little_is_forced_from_16(heads: Heads) -> list[Comparison]:
    """Test whether less than a fifth of the KL is forced at each rank from 16 on.

    A head of full rank forces nothing whatever it is, so it is no evidence.
    """
    found = []
    for member in heads.family:
        if member.rank is not None and member.rank >= MODERATE and not member.full:
            rest = heads.share("rest", member)
            rest = replace(rest, size=1 - rest.mean)  # trainings differ by a share of what is forced
            name = f"share of the KL that the head does not force, {member}"
            found.append(compare(rest, constant(0), name, heads.chance, 1 - LITTLE))
    if not found:
        raise Missing(f"no model has a rank from {MODERATE} on and below full rank")
    return found


def forced_is_the_cost_of_the_rank(heads: Heads) -> list[Comparison]:
    """Test whether at ranks 4 and 8 the head forces at least nine tenths of the KL beyond the full-rank model's.

    `Missing` if a rank has no clearly higher KL, as a share of next to nothing says nothing.
    """
    full, found = full_rank(heads.family), []
    for member in map(heads.of_rank, LOW):
        kl, least = (heads.mean("forced", "kl", own, "kl") for own in (member, full))
        if compare(kl, least, "", heads.chance).outcome != Outcome.HOLDS:
            raise Missing(f"{member} has no clearly higher KL to the truth than {full}")
        name = f"share of the KL beyond that of {full} that the head forces, {member}"
        found.append(compare(heads.share_of_cost(member), constant(0), name, heads.chance, ALL))
    return found


def bat_rejects_more_than_a_cut(heads: Heads) -> list[Comparison]:
    """Compare what BAT rejects of the truth's nucleus with what the cut of the same size rejects, at ranks 4 and 8."""
    return [
        compare(
            heads.mean("bat_premise", "rejected_mass", model),
            heads.mean("bat_premise", "top_rejected_mass", model),
            f"probability of the truth's nucleus that is rejected, by BAT against the cut, {model}",
            heads.chance,
        )
        for model in each([heads.of_rank(rank) for rank in LOW])
    ]


def _share(member: Member, kind: str, pairs: Sequence[tuple[pd.Series, pd.Series]]) -> Value:
    """Return the mean of a part by the mean of the whole, for each training.

    The values by window are those of the share made linear: their mean is the share, and in a bootstrap they vary as it
    does, to first order.
    """
    shares, sums = [], []
    for part, whole in pairs:
        if not (size := float(whole.mean())) > 0:
            raise Missing(f"{member} has a seed in which there is nothing to take a share of")
        shares.append(float(part.mean()) / size)
        sums.append(_sums(shares[-1] + (part - shares[-1] * whole) / size))
    return Value(tuple(shares), member.trainings, kind, tuple(sums))


def _sums(values: pd.Series) -> WindowSums:
    sums = WindowSums()
    sums.add(values.index.get_level_values("window").to_numpy(np.int64), values.to_numpy(np.float64))
    return sums
