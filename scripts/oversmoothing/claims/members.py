"""Members of a comparison: models of one rank, one per training seed, and the thesis's rank that they stand for."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

FULL_RANK = 257  # of bytes: behind a LayerNorm a head of rank r has r - 1 free directions


@dataclass(frozen=True)
class Member:
    """Models that differ only in their seed; each tuple is in the config's order of seeds."""

    name: str  # as in comparisons: "rank 4"
    models: tuple[str, ...]
    trainings: tuple[str, ...]  # behind each: its own, or for a head made from another's that of the full model
    rank: int | None = None  # width of the head's input
    role: int | None = None  # the thesis's rank that it stands for (`published_as` in the config)

    @property
    def full(self) -> bool:
        """Whether its head leaves the logits unconstrained."""
        return self.rank is not None and self.rank >= FULL_RANK

    def alone(self) -> list["Member"]:
        """Return each model as a member of its own, for comparisons within one training."""
        if len(self.models) == 1:
            return [self]
        pairs = zip(self.models, self.trainings, strict=True)
        return [Member(model, (model,), (training,), self.rank, self.role) for model, training in pairs]

    def __str__(self) -> str:
        return self.name


def members(models: Iterable[Mapping[str, Any]], kind: str, name: str = "rank") -> list[Member]:
    """Return the models of one kind, grouped by rank, in ascending order; truths individually, in the order given.

    Each model has ``model``, ``kind``, ``rank``, ``role`` and ``training`` (see the workflow's plan); those without
    rank or role are omitted. `name` is what comparisons call a rank of this kind.
    """
    of_kind = [model for model in models if model["kind"] == kind]
    if kind == "truth":
        return [Member(model["model"], (model["model"],), (model["training"],)) for model in of_kind]
    by_rank = defaultdict(list)
    for model in of_kind:
        if model["rank"] is not None and model["role"] is not None:
            by_rank[model["rank"]].append(model)
    return [
        Member(
            f"{name} {rank}",
            tuple(model["model"] for model in alike),
            tuple(model["training"] for model in alike),
            rank,
            alike[0]["role"],
        )
        for rank, alike in sorted(by_rank.items())
    ]
