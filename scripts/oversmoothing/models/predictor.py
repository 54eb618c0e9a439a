"""Interface of a model that is run over windows and sampled from, and loading of a job's model."""

from typing import Any, Protocol

from torch import Tensor, nn

from oversmoothing.jobs import UserError, import_by_name
from oversmoothing.models.device import Compute
from oversmoothing.models.output_kinds import LINEAR
from oversmoothing.models.weights import load_model


class Shape(Protocol):
    """Shape of a model as its users read it, such as `GPTConfig`."""

    @property
    def layers(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def entering(self) -> int: ...
    @property
    def block(self) -> int: ...
    @property
    def vocabulary(self) -> int: ...


class Predictor(Protocol):
    """A causal model over bytes or tokens: a `GPT`, or a truth from the hub (`oversmoothing.models.truths`)."""

    head: nn.Linear

    @property
    def config(self) -> Shape: ...

    def hidden(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Map tokens (batch, time) to the inputs of the bottleneck and of the head."""
        ...

    def logits(self, post: Tensor) -> Tensor:
        """Map the input of the head to float32 logits (..., v)."""
        ...


class Remembering(Protocol):
    """Model state after reading n texts, such as `samples.cache.Cache`."""

    def feed(self, tokens: Tensor) -> Tensor: ...


class Foreign(Predictor, Protocol):
    """A truth from the hub, which has its own cache and may have ids that are no tokens."""

    def cache(self, length: int) -> Remembering:
        """New state for texts of up to `length` tokens each."""
        ...

    def special_mass(self, post: Tensor) -> Tensor:
        """Probability (...) of the ids that are no tokens, before they are excluded."""
        ...


def head_matrix(model: Predictor, name: str) -> Tensor:
    """Weights (v, r) of a model's head; a `UserError` names one whose head is no such matrix."""
    kind = getattr(model.config, "output", LINEAR)
    if kind != LINEAR:
        raise UserError(f"{name}: output: {kind} is no linear head, so that no matrix stands for it; name another")
    return model.head.weight


def has_special_ids(model: Predictor) -> bool:
    """Whether a model has ids that are no tokens, and therefore a ``special_mass``."""
    return hasattr(model, "special_mass")


def cap_of(model: Predictor) -> float | None:
    """Return the c of a model whose logits are c tanh(z / c) of those z of its head; None if they are its head's."""
    return getattr(model, "cap", None)


def load_predictor(job: Any, compute: Compute) -> Predictor:
    """Model of a job, from ``input.weights`` or, for a truth, from the files listed in ``input.manifest``.

    The adapters of truths are imported by name, so that a change to one of them, or to the version of transformers,
    recomputes the truths alone. A truth's rule also has ``input.vocabulary`` and ``input.tokenizer``, over bytes no
    files.
    """
    if "layout" not in job.params.settings:
        return load_model(job.input.weights, compute.device, getattr(job.params, "shape", None))
    truths = import_by_name("oversmoothing.models.truths.load")
    of_tokens = {}
    if job.input.vocabulary:
        vocabulary = import_by_name("oversmoothing.data.tokens.vocabulary").read_vocabulary(job.input.vocabulary)
        of_tokens = {"vocabulary": vocabulary, "tokenizer": job.input.tokenizer, "windows": job.input.windows}
    model: Predictor = truths.load_truth(
        job.input.manifest, job.wildcards.model, job.params.settings, *compute, **of_tokens
    )
    return model
