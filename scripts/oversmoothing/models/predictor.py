"""Interface of a model that is run over windows and sampled from, and loading of a job's model."""

from typing import Any, Protocol

from torch import Tensor, nn

from oversmoothing.jobs import UserError, import_by_name
from oversmoothing.models.device import Compute
from oversmoothing.models.output_kinds import LINEAR
from oversmoothing.models.weights import load_model


class Predictor(Protocol):
    """A causal model over bytes or tokens: a `GPT`, or a truth from the hub (`oversmoothing.models.truths`).

    A truth has a ``cache`` of its own, a ``special_mass`` of the ids that are no tokens, and ``cap``: the c of logits
    that are c tanh(z / c) of those z of its head, or None.
    """

    config: Any  # a `GPTConfig`, or the shape of a truth alone
    head: nn.Linear

    def hidden(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Map tokens (batch, time) to the inputs of the bottleneck and of the head."""
        ...

    def logits(self, post: Tensor) -> Tensor:
        """Map the input of the head to float32 logits (..., v)."""
        ...


def head_matrix(model: Predictor, name: str) -> Tensor:
    """Return weights (v, r) of a model's head; raise a `UserError` naming a model whose head is no such matrix."""
    if (kind := getattr(model.config, "output", LINEAR)) != LINEAR:
        raise UserError(f"{name}: output: {kind} is no linear head, so that no matrix stands for it; name another")
    return model.head.weight


def load_predictor(job: Any, compute: Compute) -> Predictor:
    """Return the model of a job, from ``input.weights`` or, for a truth, from the files listed in ``input.manifest``.

    The adapters of truths are imported by name, so that a change to one of them, or to the version of transformers,
    recomputes the truths alone. Over bytes ``input.vocabulary`` and ``input.tokenizer`` of a truth are no files.
    """
    if "layout" not in job.params.settings:
        return load_model(job.input.weights, compute.device, getattr(job.params, "shape", None))
    truths = import_by_name("oversmoothing.models.truths.load")
    of_tokens = {}
    if job.input.vocabulary:
        vocabulary = import_by_name("oversmoothing.data.tokens.vocabulary").read_vocabulary(job.input.vocabulary)
        of_tokens = {"vocabulary": vocabulary, "tokenizer": job.input.tokenizer, "windows": job.input.windows}
    return truths.load_truth(job.input.manifest, job.wildcards.model, job.params.settings, *compute, **of_tokens)
