"""Min-k sampling: the tokens before the steepest fall of the sorted logits."""

import array_api_compat as api

from oversmoothing.scores.catalogue.decoders import Method, Parameter
from oversmoothing.scores.nucleus import keep_first
from oversmoothing.scores.probabilities import Array, renormalised, smallest


def min_k(p: Array, fallback: float = 3.0) -> Array:
    """Keep the tokens before the steepest fall of the sorted logits and renormalise (Ding et al. 2026, Algorithm 1).

    With the logits in falling order, l_1 to l_v, the fall behind the i-th is (l_i - l_i+1) / (R i), where R = l_1 - l_v
    is their range: falls near the head count for more. The k most probable tokens are kept, where k is the i of the
    steepest fall, the first among equals, or floor(fallback / R) if that is more: where the logits are nearly equal, no
    fall means much. R is increased by 1e-8, for distributions that are flat.

    The logits are ln p (in float64) up to a constant. A token with probability 0 has no logit: it is left out and stays
    0. The most probable token is always kept. Ties are broken by token id, lowest first. A temperature before this
    method moves no fall, but it divides R. In the paper the temperature comes behind it.

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    fallback : float
        The paper's tau, from 0 on; 0 leaves only the steepest fall.

    Returns
    -------
    array, shape (n, v)
        Distributions.

    References
    ----------
    Y. Ding et al., "Min-k sampling: Decoupling truncation from temperature scaling via relative logit dynamics", ACL
    2026.
    """
    if p.shape[1] == 1:
        return p
    xp = api.array_namespace(p)

    def size(falling: Array) -> Array:
        there = xp.astype(falling > 0, xp.int64)
        count = xp.sum(there, axis=1)
        logs = xp.log(xp.maximum(falling, smallest(falling)))
        rank = xp.arange(1, p.shape[1], device=api.device(p))
        steepest = xp.argmax((logs[:, :-1] - logs[:, 1:]) * there[:, 1:] / rank, axis=1) + 1
        spread = logs[:, 0] - logs[xp.arange(falling.shape[0], device=api.device(p)), count - 1] + 1e-8
        flat = xp.minimum(xp.floor(fallback / spread), xp.astype(count, xp.float64))
        return xp.maximum(steepest, xp.astype(flat, xp.int64))

    return renormalised(p, keep_first(p, size))


METHOD = Method(min_k, (Parameter("fallback", 3.0),))
