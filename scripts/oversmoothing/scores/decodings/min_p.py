"""Min-p sampling: the tokens that reach a share of the largest probability."""

import array_api_compat as api

from oversmoothing.scores.catalogue.decoders import Method, Parameter
from oversmoothing.scores.probabilities import Array, renormalised


def min_p(p: Array, share: float = 0.05) -> Array:
    """Keep the tokens with at least `share` of the largest probability and renormalise (Nguyen et al. 2025).

    The most probable token is always kept. Equal probabilities are kept or dropped together, so there are no ties to
    break.

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    share : float
        The paper's p_base, in (0, 1].

    Returns
    -------
    array, shape (n, v)
        Distributions.

    References
    ----------
    M. N. Nguyen et al., "Turning up the heat: min-p sampling for creative and coherent LLM outputs", ICLR 2025.
    """
    xp = api.array_namespace(p)
    return renormalised(p, p >= share * xp.max(p, axis=1, keepdims=True))


METHOD = Method(min_p, (Parameter("min_p", 0.05, high=1, above=True),))
