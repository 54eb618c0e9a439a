"""Eta sampling: the tokens above a threshold that falls with the entropy."""

import math

import array_api_compat as api

from oversmoothing.scores.catalogue.decoders import Method, Parameter
from oversmoothing.scores.probabilities import Array, renormalised, smallest


def eta(p: Array, epsilon: float = 0.0009) -> Array:
    """Keep the tokens above a threshold that falls with the entropy H and renormalise (Hewitt et al. 2022, section 4).

    The threshold is min(epsilon, sqrt(epsilon) exp(-H)), H in nats. The most probable token, the lowest id among
    equals, is always kept.

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    epsilon : float
        In (0, 1]; the paper's best values lie between 0.0003 and 0.004, for vocabularies of 50,000 tokens.

    Returns
    -------
    array, shape (n, v)
        Distributions.

    References
    ----------
    J. Hewitt, C. D. Manning and P. Liang, "Truncation sampling as language model desmoothing", Findings of EMNLP 2022.
    """
    xp = api.array_namespace(p)
    negative_entropy = xp.sum(p * xp.log(xp.maximum(p, smallest(p))), axis=1, keepdims=True)
    threshold = xp.minimum(math.sqrt(epsilon) * xp.exp(negative_entropy), epsilon)
    ids = xp.arange(p.shape[1], device=api.device(p))
    return renormalised(p, (p > threshold) | (ids == xp.argmax(p, axis=1, keepdims=True)))


METHOD = Method(eta, (Parameter("epsilon", 0.0009, high=1, above=True),))
