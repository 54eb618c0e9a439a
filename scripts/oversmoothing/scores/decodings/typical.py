"""Locally typical sampling: the tokens whose surprise is near the entropy."""

import array_api_compat as api
import numpy as np

from oversmoothing.scores import nucleus
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
    if api.is_numpy_array(p) and p.shape[1] > nucleus.LARGE:
        return renormalised(p, _nearest(wide, distance, mass))
    order = xp.argsort(distance, axis=1, stable=True)
    row = xp.arange(p.shape[0], device=api.device(p))[:, None]
    before = xp.cumulative_sum(wide[row, order], axis=1) - wide[row, order]
    keep = xp.zeros(p.shape, dtype=xp.bool, device=api.device(p))
    keep[row, order] = before < mass
    return renormalised(p, keep)


def _nearest(p: np.ndarray, distance: np.ndarray, mass: float) -> np.ndarray:
    """Mark the tokens of smallest `distance` in each row of `p`, float64 (n, v), that together reach `mass`, or all.

    Tokens below (1 - mass) / v hold less than 1 - mass together, so those as near as the others suffice; often, fewer.
    """
    keep = np.zeros(p.shape, bool)
    for row, far, marks in zip(p, distance, keep, strict=True):
        for step in (64, 8, 1, 0):
            within = np.max(far, where=row >= step * (1 - mass) / len(row), initial=-np.inf)
            (order,) = np.nonzero(far <= within)  # with its ties
            order = order[np.argsort(far[order], kind="stable")]
            cumulative = np.cumsum(row[order])
            if step == 0 or (order.size and cumulative[-1] >= mass + 1e-9):
                break  # the order of additions changes far less than 1e-9
        marks[order] = cumulative - row[order] < mass
    return keep


METHOD = Method(typical, (Parameter("mass", 0.95, high=1, above=True),))
