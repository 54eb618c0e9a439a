"""What a model must have so that windows are run through it and texts are sampled from it."""

from typing import Protocol

from torch import Tensor, nn


class Shape(Protocol):
    """What others need to know of a model's shape; `GPTConfig` is one."""

    @property
    def layers(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def rank(self) -> int | None: ...
    @property
    def block(self) -> int: ...
    @property
    def vocabulary(self) -> int: ...


class Predictor(Protocol):
    """A causal model over bytes: a `GPT`, or a truth from elsewhere (`oversmoothing.truths`)."""

    head: nn.Linear

    @property
    def config(self) -> Shape: ...

    def hidden(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Map bytes (batch, time) to what enters the bottleneck and what enters the head."""
        ...

    def logits(self, post: Tensor) -> Tensor:
        """Map what enters the head to float32 logits (..., v)."""
        ...


class Remembering(Protocol):
    """A model that remembers what it has read of n texts; `samples.cache.Cache` is one."""

    def feed(self, tokens: Tensor) -> Tensor: ...

    def reorder(self, rows: Tensor, start: int) -> None: ...


class Foreign(Predictor, Protocol):
    """A model that is no `GPT` and therefore brings its own memory."""

    def cache(self, length: int) -> Remembering:
        """Begin texts of up to `length` bytes."""
        ...
