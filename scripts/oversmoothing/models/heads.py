"""The head of a model, of any kind, as a matrix, and what is made of it once for many windows."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from oversmoothing.models.factored_head import read_factors
from oversmoothing.models.spectra import ALONE, read_bias, read_facts, read_gain, read_head, truncate

Made = TypeVar("Made")


@dataclass(frozen=True)
class ModelHead:
    """A head as a model has it."""

    weights: np.ndarray  # (v, r)
    gain: np.ndarray | None = None  # (r,), of the LayerNorm directly before the head, if there is one and it is known
    bias: np.ndarray | None = None  # (v,)
    alone: bool = False  # whether the model in front of it is not known
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, make: Callable[..., Made], *arguments: Hashable) -> Made:
        """Return what a function makes of the head and arguments; it is made in the first call and kept."""
        if (key := (make, *arguments)) not in self._made:
            self._made[key] = make(self, *arguments)
        made: Made = self._made[key]
        return made


def read_model_head(path: str | Path, rank: int | None = None, capped: bool = False) -> ModelHead:
    """Return a model's head, truncated to a rank, if given, from weights, a head alone, or the factors of one.

    Factors are multiplied, and heads truncated, in float64: rounding would add directions that no state reaches.
    `capped` is as of `spectra.read_head`.
    """
    if factors := read_factors(path):
        a, b, gain = factors
        return ModelHead(a.astype(np.float64) @ b.astype(np.float64)) if gain is None else ModelHead(a, gain)
    weights, alone = read_head(path, capped), read_facts(path).get("head") == ALONE
    return ModelHead(weights if rank is None else truncate(weights, rank), read_gain(path), read_bias(path), alone)
