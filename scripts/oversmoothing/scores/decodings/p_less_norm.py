"""Normalised p-less sampling: the tokens at least as probable as two draws are to agree beyond chance."""

import array_api_compat as api

from oversmoothing.scores.catalogue.decoders import Method
from oversmoothing.scores.probabilities import Array, renormalised


def p_less_norm(p: Array) -> Array:
    """Keep the tokens that reach a threshold, 0 where all are equal, and renormalise (Tan et al. 2026, p-less_norm).

    The threshold is (v L - 1) / (v - 1), where L is the sum of all squares, the threshold of `p_less`; v counts all
    tokens, also those with probability 0. It is at most L, so the set contains that of `p_less`, and the most probable
    token is always kept. Equal probabilities are kept or dropped together.

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.

    Returns
    -------
    array, shape (n, v)
        Distributions.

    References
    ----------
    R. Tan, S. Wu and P. Howard, "p-less sampling: A robust hyperparameter-free approach for LLM decoding", ICLR 2026.
    """
    xp = api.array_namespace(p)
    v = p.shape[1]
    threshold = (v * xp.sum(p * p, axis=1, keepdims=True) - 1) / max(v - 1, 1)
    return renormalised(p, p >= xp.minimum(threshold, xp.max(p, axis=1, keepdims=True)))


METHOD = Method(p_less_norm)
