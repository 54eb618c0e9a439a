"""Locally typical sampling: the tokens whose surprise is near the entropy."""

import array_api_compat as api

from oversmoothing.scores import candidates
from oversmoothing.scores.catalogue.decoders import Method, Parameter
from oversmoothing.scores.probabilities import Array, renormalised, smallest


def typical(p: Array, mass: float = 0.95) -> Array:
    """Keep the tokens whose surprise is nearest to the entropy and renormalise (Meister et al. 2023, equation 11).

    The set is the shortest prefix, in ascending order of abs(-ln p_i - H), whose cumulative mass (in float64) reaches
    `mass`. The most probable token may be dropped where the entropy is high: with p = 0.4 on one token, 0.006 on each
    of a hundred others and a mass of 0.5, it is. Tokens whose distances differ by less than 1e-9 nats count as ties,
    which are broken by token id, lowest first.

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    mass : float
        The paper's tau, in (0, 1]; 1 changes nothing.

    Returns
    -------
    array, shape (n, v)
        Distributions.

    References
    ----------
    C. Meister, T. Pimentel, G. Wiher and R. Cotterell, "Locally typical sampling", TACL 2023.
    """
    if mass == 1:
        return p
    xp = api.array_namespace(p)
    wide = xp.astype(p, xp.float64)
    logs = xp.log(xp.maximum(wide, smallest(wide)))
    distance = xp.abs(logs - xp.sum(wide * logs, axis=1, keepdims=True))
    distance = xp.round(distance * 1e9)  # 1/2 and 1/4 may tie
    if api.is_numpy_array(p) and p.shape[1] > candidates.LARGE:
        return renormalised(p, candidates.nearest(wide, distance, mass))
    order = xp.argsort(distance, axis=1, stable=True)
    row = xp.arange(p.shape[0], device=api.device(p))[:, None]
    before = xp.cumulative_sum(wide[row, order], axis=1) - wide[row, order]
    keep = xp.zeros(p.shape, dtype=xp.bool, device=api.device(p))
    keep[row, order] = before < mass
    return renormalised(p, keep)


METHOD = Method(typical, (Parameter("mass", 0.95, high=1, above=True),))
