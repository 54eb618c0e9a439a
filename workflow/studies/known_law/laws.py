"""What a law is, a text of it, and a kind of models that stand in for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oversmoothing.scores.decoding import links

PURE = {"name": "pure"}
WITHOUT_ZEROS = ("pure", "temperature")  # all other methods give some bytes nothing
LAW, STAND_INS = "law", "stand-ins"  # truths in tables: the law, and the first kind of its stand-ins
TRUTH = "truth"  # arm of the models of that kind
OWN = ("tto", "kl")  # metrics behind text that a model has written itself
MARKED = ("rejected", "rejected_above_both", "above_both")  # columns of what BAT rejects (`marked`)


@dataclass(frozen=True)
class Law:
    """A law: its name, the rank of its head, if that is not the truth's own, and its decoding."""

    name: str
    rank: int | None = None
    decoding: Mapping[str, Any] = field(default_factory=lambda: PURE)

    @property
    def has_zeros(self) -> bool:
        """Whether it gives some bytes nothing."""
        return any(link["name"] not in WITHOUT_ZEROS for link in links(self.decoding))


@dataclass(frozen=True)
class Text:
    """Sequences drawn from a law to train on."""

    law: str
    sequences: int
    ranks: tuple[int, ...] = ()  # of the members that learn it; none if only stand-ins do
    seeds: tuple[int, ...] = ()
    arms: tuple[str, ...] = ()  # of the family, which also learn it
    after: int = 0  # sequences of the law that precede it

    @property
    def name(self) -> str:
        """Its name in paths."""
        return f"{self.law}-{self.sequences}" + (f"-after-{self.after}" if self.after else "")


@dataclass(frozen=True)
class Kind:
    """A kind of models that stand in for a law."""

    name: str
    sequences: int
    passes: int
    seeds: Sequence[int]
    after: int = 0
    layers: int | None = None  # if not those of the law's truth

    def text(self, law: str) -> Text:
        """Return the text of a law that they learn."""
        return Text(law, self.sequences, after=self.after)
