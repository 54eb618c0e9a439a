"""The shape of a GPT, with the one check of what a shape may be; without PyTorch, so that a plan can make it."""

from dataclasses import dataclass, fields
from typing import Any

from oversmoothing.jobs import UserError
from oversmoothing.models.output_kinds import KINDS, LINEAR

BYTES = 256


@dataclass(frozen=True)
class GPTConfig:
    """Shape of a GPT."""

    layers: int
    heads: int  # of attention
    width: int  # hidden size
    block: int  # longest context in tokens
    rank: int | None = None  # width of each vector that enters the LM head; None: a head without a bottleneck
    bottleneck_norm: str = "after"  # or "before": where the last LayerNorm stands relative to the bottleneck Linear
    positions: str = "learned"  # absolute (GPT-2, the thesis), or "rotary" (Su et al. 2021)
    dropout: float = 0.0  # on embeddings, attention weights and residual branches
    vocabulary: int = BYTES  # v
    biases: bool = False  # in the blocks, as GPT-2 has them; those of the last LayerNorm and the head are left out
    output: str = LINEAR  # kind of the output layer, of `output_kinds.KINDS`
    context: int | None = None  # tokens, the last ones, of which each logit is a function; None: all in the block

    def __post_init__(self) -> None:
        counts = {key: getattr(self, key) for key in ("layers", "heads", "width", "block", "vocabulary")}
        counts |= {key: given for key in ("rank", "context") if (given := getattr(self, key)) is not None}
        for key, value in counts.items():
            least = 0 if key == "layers" else 1  # a model without blocks is a head alone
            if type(value) is not int or value < least:
                raise UserError(f"model: {key} {value!r} must be a whole number from {least} on")
        if type(self.dropout) not in (int, float) or not 0 <= self.dropout < 1:
            raise UserError(f"model: dropout {self.dropout!r} must lie between 0 and 1")
        if self.width % self.heads:
            raise UserError(f"model: width {self.width} is not a multiple of heads {self.heads}")
        if self.positions == "rotary" and (self.width // self.heads) % 2:
            raise UserError(f"model: rotary positions need an even head size, not {self.width} / {self.heads}")
        if self.rank is not None and self.rank > self.width:
            raise UserError(f"model: rank {self.rank} must lie between 1 and the width, {self.width}")
        choices = {"bottleneck_norm": ("after", "before"), "positions": ("learned", "rotary"), "output": tuple(KINDS)}
        for key, allowed in choices.items():
            if getattr(self, key) not in allowed:
                raise UserError(f"model: {key} is {getattr(self, key)!r}; it may be {', '.join(allowed)}")

    @property
    def entering(self) -> int:
        """Numbers that enter the output layer: one vector of width `rank` unless its kind takes several."""
        return KINDS[self.output].vectors * (self.rank or self.width)

    @property
    def reaches(self) -> tuple[int | None, ...]:
        """How many tokens before its own each layer's attention sees, None for all; in sum `context` - 1.

        What a layer sees has seen further back itself, so the layers share the context evenly.
        """
        if self.context is None or self.context >= self.block:
            return (None,) * self.layers
        return tuple((self.context - 1 + layer) // self.layers for layer in range(self.layers))

    def as_dict(self) -> dict[str, Any]:
        """Return the shape as `from_dict` takes it, as models of no limited context have always stated it."""
        return {key: value for key, value in vars(self).items() if key != "context" or value is not None}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "GPTConfig":
        """Build a config from a mapping; a `UserError` names an unknown or missing key."""
        if not isinstance(values, dict):
            raise UserError(f"model: {values!r} is no mapping of keys to values")
        known = {field.name for field in fields(cls)}
        if values.get("beside") is False:  # weights of v0.5 and before state that they have no second head
            values = {key: value for key, value in values.items() if key != "beside"}
        if unknown := sorted(set(values) - known):
            raise UserError(f"model: unknown key {unknown[0]!r} (known: {', '.join(sorted(known))})")
        try:
            return cls(**values)
        except TypeError as error:
            raise UserError(f"model: {error}") from error
