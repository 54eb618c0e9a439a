"""Truncation methods newer than those of the thesis: min-p, locally typical and eta sampling.

The conventions of `oversmoothing.decoding` apply: functions map distributions (n, v) to distributions of the same
dtype, are written against the array API, trust their input and do not modify it. min-p is about as fast as greedy, eta
as temperature; typical sorts every row by surprise and costs about twice as much as top-p.
"""

import math
from typing import Any

import array_api_compat as api

from oversmoothing import candidates

Array = Any  # any array of the array API: NumPy's, torch's, ...


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

    Raises
    ------
    ValueError
        If `share` lies outside (0, 1].

    References
    ----------
    M. N. Nguyen et al., "Turning up the heat: min-p sampling for creative and coherent LLM outputs", ICLR 2025.
    """
    if not 0 < share <= 1:
        raise ValueError(f"min-p: a share of {share} lies outside (0, 1]")
    xp = api.array_namespace(p)
    return renormalised(p, p >= share * xp.max(p, axis=1, keepdims=True))


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

    Raises
    ------
    ValueError
        If `mass` lies outside (0, 1].

    References
    ----------
    C. Meister, T. Pimentel, G. Wiher and R. Cotterell, "Locally typical sampling", TACL 2023.
    """
    if not 0 < mass <= 1:
        raise ValueError(f"typical: a mass of {mass} lies outside (0, 1]")
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

    Raises
    ------
    ValueError
        If `epsilon` lies outside (0, 1].

    References
    ----------
    J. Hewitt, C. D. Manning and P. Liang, "Truncation sampling as language model desmoothing", Findings of EMNLP 2022.
    """
    if not 0 < epsilon <= 1:
        raise ValueError(f"eta: an epsilon of {epsilon} lies outside (0, 1]")
    xp = api.array_namespace(p)
    negative_entropy = xp.sum(p * xp.log(xp.maximum(p, smallest(p))), axis=1, keepdims=True)
    threshold = xp.minimum(math.sqrt(epsilon) * xp.exp(negative_entropy), epsilon)
    ids = xp.arange(p.shape[1], device=api.device(p))
    return renormalised(p, (p > threshold) | (ids == xp.argmax(p, axis=1, keepdims=True)))


def renormalised(p: Array, keep: Array) -> Array:
    """Return `p` (n, v) restricted to the tokens marked in `keep`, bool (n, v), each row rescaled to sum to 1."""
    xp = api.array_namespace(p)
    kept = p * xp.astype(keep, p.dtype)  # in NumPy four times faster than where()
    kept /= xp.sum(kept, axis=1, keepdims=True)
    return kept


def smallest(p: Array) -> float:
    """Return the smallest positive (subnormal) number of the dtype of `p`."""
    limits = api.array_namespace(p).finfo(p.dtype)
    return float(limits.smallest_normal) * float(limits.eps)
