"""Mirostat: sampling that keeps the surprise of a text at a target."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from oversmoothing.models.predictor import Predictor
from oversmoothing.samples.draws import choose
from oversmoothing.samples.generate import Sampler, with_step
from oversmoothing.scores.catalogue.decoders import parameters
from oversmoothing.scores.decodings.greedy import greedy


@dataclass(frozen=True)
class Mirostat:
    """A sampling step under Mirostat 2.0, which needs no estimate of the distribution's exponent.

    Tokens more surprising than a bound mu are removed, and one of the others is drawn. Its surprise, -log2 of the
    model's own probability of it, then updates the bound: mu <- mu - rate (surprise - tau). mu starts at 2 tau.

    References
    ----------
    S. Basu, G. Ramachandran, N. Keskar and L. Varshney, "Mirostat: a neural text decoding algorithm that directly
    controls perplexity", ICLR 2021.
    """

    tau: float  # target, in bits per token, above 0
    rate: float  # learning rate, above 0

    def __call__(self, p: Tensor, u: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return one token for each text, and the next bounds mu.

        The model's distributions `p` are (n, v), the uniform numbers `u` float64 (n,), and the bounds `state` float64
        (n,) in bits, or None before the first token.
        """
        bound = torch.full_like(u, 2 * self.tau) if state is None else state
        surprise = -p.double().log2()
        keep = (surprise <= bound[:, None]) | (greedy(p) > 0)
        tokens = choose(p * keep, u)
        observed = surprise.gather(1, tokens[:, None])[:, 0]
        return tokens, bound - self.rate * (observed - self.tau)


def sampler(decoding: Mapping[str, Any], model: Predictor) -> Sampler:
    """Return the sampler for ``{name: mirostat, tau: 3, rate: 0.1}``; a `UserError` names an invalid key or value."""
    tau, rate = parameters(decoding)
    return with_step(Mirostat(float(tau), float(rate)))
