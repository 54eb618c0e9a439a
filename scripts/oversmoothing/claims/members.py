"""Members of a comparison: models of one rank, one per training seed, and the thesis's rank that they stand for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

VOCABULARY = 256
FULL_RANK = VOCABULARY + 1  # behind a LayerNorm a head of rank r has r - 1 free directions


@dataclass(frozen=True)
class Member:
    """Models that differ only in their seed.

    Attributes
    ----------
    name : str
        As in comparisons: "rank 4".
    models : tuple of str
        One per seed, in the config's order.
    trainings : tuple of str
        The training behind each: its own, or for a head made from another's that of the full model.
    rank : int or None
        Width of the head's input.
    role : int or None
        The thesis's rank that it stands for (`published_as` in the config): a claim about rank 512 is tested on the
        member with that role.
    """

    name: str
    models: tuple[str, ...]
    trainings: tuple[str, ...]
    rank: int | None = None
    role: int | None = None

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
    own = [model for model in models if model["kind"] == kind]
    if kind == "truth":
        return [Member(model["model"], (model["model"],), (model["training"],)) for model in own]
    ranked = [model for model in own if model["rank"] is not None and model["role"] is not None]
    found = []
    for rank in sorted({model["rank"] for model in ranked}):
        alike = [model for model in ranked if model["rank"] == rank]
        names, trainings = (tuple(model[key] for model in alike) for key in ("model", "training"))
        found.append(Member(f"{name} {rank}", names, trainings, rank, alike[0]["role"]))
    return found
