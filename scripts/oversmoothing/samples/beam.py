"""Beam search: the most probable continuation found by a search of limited width."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from oversmoothing.jobs import UserError
from oversmoothing.models.predictor import Predictor
from oversmoothing.samples.cache import NOT_FINITE, remember
from oversmoothing.samples.generate import Progress, Sampler
from oversmoothing.scores.catalogue.decoders import parameters


def sampler(decoding: Mapping[str, Any], model: Predictor) -> Sampler:
    """Return the sampler for ``{name: beam, width: 5}``, which draws nothing; a `UserError` names an invalid value."""
    (width,) = parameters(decoding)

    def grow(model: Predictor, prompts: Tensor, draws: Tensor, precision: str, progress: Progress | None) -> Tensor:
        return beam_search(model, prompts, len(draws), width, precision, progress)[0]

    return Sampler(grow, texts=width)


@torch.inference_mode()
def beam_search(
    model: Predictor,
    prompts: Tensor,
    length: int,
    width: int,
    precision: str = "float32",
    progress: Callable[[int], object] | None = None,
) -> tuple[Tensor, Tensor]:
    """Continue each prompt, int64 (n, time), by `length` tokens with beam search, keeping `width` texts per prompt.

    No token ends a text, so all texts have the same length and their log-probabilities are comparable. Ties are broken
    by the rank of the text and then by token id, lowest first; width 1 is greedy decoding. `progress` is called after
    each step with the number of tokens added. A `UserError` is raised if the logits are not finite.

    Returns
    -------
    texts : int64 tensor, shape (n, length)
    scores : float64 tensor, shape (n,)
        Log-probabilities of the texts given the prompt, in nats.

    References
    ----------
    M. Freitag and Y. Al-Onaizan, "Beam search strategies for neural machine translation", NMT 2017.
    """
    n, time = prompts.shape
    v = model.config.vocabulary
    first = torch.arange(n, device=prompts.device)[:, None] * width
    cache = remember(model, n * width, time + length - 1, precision)
    logits = cache.feed(prompts.repeat_interleave(width, dim=0))
    texts = prompts.new_empty((n, width, length))
    # Initially all texts of a beam are the same, so only one of them may grow.
    scores = torch.full((n, width), -torch.inf, dtype=torch.float64, device=prompts.device)
    scores[:, 0] = 0
    for j in range(length):
        grown = scores[:, :, None] + logits.double().log_softmax(dim=-1).view(n, width, v)
        ranked, order = grown.flatten(1).sort(dim=1, descending=True, stable=True)
        scores, best = ranked[:, :width], order[:, :width]
        parents, tokens = best // v, best % v
        texts = texts.gather(1, parents[:, :, None].expand_as(texts))
        texts[:, :, j] = tokens
        if progress:
            progress(n)
        if j + 1 < length:
            cache.reorder((first + parents).flatten(), time)
            logits = cache.feed(tokens.reshape(-1, 1))
    if not scores[:, 0].isfinite().all():
        raise UserError(NOT_FINITE)
    return texts[:, 0], scores[:, 0]
