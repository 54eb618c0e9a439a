"""What a model must have to be run over windows and sampled from, and the one that a job is given."""

from importlib import import_module
from typing import Any, Protocol

from torch import Tensor, nn

from oversmoothing.device import Compute
from oversmoothing.fingerprint import fingerprint
from oversmoothing.jobs import UserError
from oversmoothing.weights import load_model

ADAPTERS = "oversmoothing/truths/load.py"  # with all that it imports, what turns models of the hub into predictors


class Shape(Protocol):
    """The part of a model's shape that its users read; `GPTConfig` is one."""

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
    """A causal model over bytes: a `GPT`, or a truth from the hub (`oversmoothing.truths`)."""

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
    """A truth from the hub, which brings its own memory and may have ids that are not bytes."""

    def cache(self, length: int) -> Remembering:
        """Memory of new texts of up to `length` bytes each."""
        ...

    def special_mass(self, post: Tensor) -> Tensor:
        """Probability (...) of the ids that are not bytes, before they are left out."""
        ...


def has_special_ids(model: Predictor) -> bool:
    """Whether a model has ids that are not bytes, and so a ``special_mass``."""
    return hasattr(model, "special_mass")


def load_predictor(job: Any, compute: Compute) -> Predictor:
    """Model that a job runs, from its own ``input.weights`` or from the files of a truth, ``input.manifest``.

    The adapters of truths are imported by name, which the fingerprint of a script does not follow. An edit of one of
    them, or another version of transformers, thus redoes the truths and not every model. A rule of truths instead has
    the adapters' fingerprint as a parameter of its own, ``params.adapters``, without which no truth is loaded.

    Raises
    ------
    UserError
        If the files are missing, damaged or hold another model.
    """
    if hasattr(job.input, "weights"):
        return load_model(job.input.weights, compute.device, getattr(job.params, "shape", None))
    if job.params.adapters != fingerprint(ADAPTERS):
        raise UserError(f"the code of {ADAPTERS} changed while the run was under way; run again")
    truths = import_module("oversmoothing.truths.load")
    model: Predictor = truths.load_truth(job.input.manifest, job.wildcards.model, job.params.settings, *compute)
    return model
