"""The types of models, by what a model is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from oversmoothing.models.output_kinds import LINEAR


@dataclass(frozen=True)
class Model:
    """One model; its type says what it is made of.

    Its name is the wildcard ``{model}``: that of its arm (see `plan.arms`) and its seed, ``bn4-s1337``, or the model it
    is made from, ``svd64-pythia-70m``; ``bn4-r0.002-s0``, a trial of a learning rate; or the name of a truth, of a
    checkpoint or of a member from the hub.
    """

    name: str
    kind: str  # that of its arm, "truth" or "trial"
    rank: int | None = None  # of the head's input, or of the gradient; None if the config does not say
    seed: int | None = None
    published_as: str | None = None  # the thesis's name of it

    @property
    def arm(self) -> str:
        """Its name without the seed."""
        return self.name.removesuffix(f"-s{self.seed}")

    @property
    def facts(self) -> dict[str, Any]:
        """What the rows of tables say of it."""
        return {"model": self.name, "kind": self.kind, "rank": self.rank, "seed": self.seed, "arm": self.arm}

    @property
    def original(self) -> str:
        """Name of the model that was trained: itself, or the one whose head was made into its own."""
        return self.name

    @property
    def shape(self) -> dict[str, Any] | None:
        """The `model` settings that its weights must have; None where the config does not say them."""
        return None

    @property
    def linear(self) -> bool:
        """Whether its head is a matrix, which what reads a head as one takes."""
        return True


@dataclass(frozen=True, kw_only=True)
class Trained(Model):
    """A model that is trained here."""

    settings: dict[str, Any]  # ``model``, ``training``, ``seed``
    processes: int  # that train it; no setting, because it only decides where training runs

    @property
    def shape(self) -> dict[str, Any]:
        return self.settings["model"]

    @property
    def linear(self) -> bool:
        return self.shape.get("output", LINEAR) == LINEAR


@dataclass(frozen=True, kw_only=True)
class Trial(Trained):
    """A short training, which decides the learning rate of an arm."""

    member: str  # that arm


@dataclass(frozen=True, kw_only=True)
class Checkpoint(Model):
    """The weights of a model that this workflow trained elsewhere."""

    path: str


@dataclass(frozen=True, kw_only=True)
class DerivedHead(Model):
    """A head made from another model's, on that model's trunk."""

    source: str  # that model

    @property
    def original(self) -> str:
        return self.source


@dataclass(frozen=True, kw_only=True)
class Hub(Model):
    """A model of the hub, or of a folder like it, that reads what this run is over: bytes, or its tokens."""

    settings: dict[str, Any]  # ``asset``, ``layout``, ``byte_offset``, ``bos``, ``batch``, ``precision``, ``capped``


@dataclass(frozen=True, kw_only=True)
class ByBytes(Model):
    """A model of the hub over tokens in a run over bytes: only its distributions of the next byte are known."""

    settings: dict[str, Any]  # ``asset``, ``layout``, ``bos``, ``batch``, ``precision``, ``context``, ``temperature``

    @property
    def linear(self) -> bool:
        return False


Form = TypeVar("Form", bound=Model)


def of_type(form: type[Form], models: Mapping[str, Model]) -> list[Form]:
    """Return the models of a type, in the config's order."""
    return [model for model in models.values() if isinstance(model, form)]
