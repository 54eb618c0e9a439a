"""P-less sampling: the tokens at least as probable as two draws are to agree."""

import array_api_compat as api

from oversmoothing.scores.catalogue.decoders import Method
from oversmoothing.scores.probabilities import Array, renormalised


def p_less(p: Array) -> Array:
    """Keep the tokens whose probability is at least the sum of all squares and renormalise (Tan et al. 2026, L[P]).

    The sum is the probability that two independent draws are the same token; there is no parameter. It is never above
    the largest probability, so the most probable token is always kept, and rounding makes no exception. Equal
    probabilities are kept or dropped together.

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
    threshold = xp.sum(p * p, axis=1, keepdims=True)
    return renormalised(p, p >= xp.minimum(threshold, xp.max(p, axis=1, keepdims=True)))


METHOD = Method(p_less)
