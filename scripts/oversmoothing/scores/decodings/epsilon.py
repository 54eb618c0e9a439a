"""Epsilon sampling: the tokens above a fixed probability."""

import array_api_compat as api

from oversmoothing.scores.catalogue.decoders import Method, Parameter
from oversmoothing.scores.probabilities import Array, renormalised


def epsilon(p: Array, threshold: float = 0.0003) -> Array:
    """Keep the tokens whose probability is above `threshold` and renormalise (Hewitt et al. 2022, section 4).

    The most probable token, the lowest id among equals, is always kept.

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    threshold : float
        The paper's epsilon, in (0, 1]; its best values lie between 0.0003 and 0.0009, for vocabularies of 50,000
        tokens.

    Returns
    -------
    array, shape (n, v)
        Distributions.

    References
    ----------
    J. Hewitt, C. D. Manning and P. Liang, "Truncation sampling as language model desmoothing", Findings of EMNLP 2022.
    """
    xp = api.array_namespace(p)
    ids = xp.arange(p.shape[1], device=api.device(p))
    return renormalised(p, (p > threshold) | (ids == xp.argmax(p, axis=1, keepdims=True)))


METHOD = Method(epsilon, (Parameter("threshold", 0.0003, high=1, above=True),))
