"""Top-H sampling: the most probable tokens within a share of the entropy."""

import array_api_compat as api

from oversmoothing.scores.catalogue.decoders import Method, Parameter
from oversmoothing.scores.nucleus import keep_first
from oversmoothing.scores.probabilities import Array, renormalised, smallest


def top_h(p: Array, alpha: float = 0.4) -> Array:
    """Keep the tokens that make up at most a share of the entropy and renormalise (Potraghloo et al. 2025).

    The set is the longest prefix, in order of decreasing probability, whose terms -p_i ln p_i sum (in float64) to at
    most alpha H(p). The most probable token is always kept. Ties are broken by token id, lowest first.

    This is the rule of the authors' code and of the warper in transformers, which both look at the 100 most probable
    tokens only, and here all are. Algorithm 1 of the paper bounds another sum: the entropy of the kept tokens after
    they are renormalised, H(q) <= alpha H(p). Neither set always contains the other: of the probabilities 0.5, 0.3,
    0.1 and 0.1 with alpha = 0.6 this rule keeps one and the algorithm two, of ten equal ones with alpha = 0.4 this rule
    keeps four and the algorithm two.

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    alpha : float
        Share of the entropy, in (0, 1]; 1 changes nothing.

    Returns
    -------
    array, shape (n, v)
        Distributions.

    References
    ----------
    E. B. Potraghloo, S. Azizi, S. Kundu and M. Pedram, "Top-H decoding: Adapting the creativity and coherence with
    bounded entropy in text generation", NeurIPS 2025.
    """
    if alpha == 1:
        return p
    xp = api.array_namespace(p)

    def size(falling: Array) -> Array:
        entropy = xp.cumulative_sum(-falling * xp.log(xp.maximum(falling, smallest(falling))), axis=1)
        return xp.maximum(xp.sum(xp.astype(entropy <= alpha * entropy[:, -1:], xp.int64), axis=1), 1)

    return renormalised(p, keep_first(p, size))


METHOD = Method(top_h, (Parameter("alpha", 0.4, high=1, above=True),))
