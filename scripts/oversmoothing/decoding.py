"""Decoding methods: maps from next-token distributions to next-token distributions.

Thesis 6.1 compares pure sampling with greedy, top-k (k = 5), top-p (p = 0.9) and temperature (0.8), which are the
defaults here; `oversmoothing.truncation` adds min-p, typical and eta. Every function takes probabilities of shape (n,
v), one distribution per row, and returns the same shape and dtype without changing its input. The functions are written
against the array API, so they serve both NumPy arrays (scoring) and torch tensors on any device (sampling); nothing
here imports torch. They run at every step of generation and therefore trust their input; `oversmoothing.metrics` checks
it.

Ties are broken by token id, lowest first, so that the same logits always keep the same tokens.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import array_api_compat as api

from oversmoothing import candidates
from oversmoothing.catalogue.decoders import MAPS, parameters
from oversmoothing.jobs import UserError
from oversmoothing.truncation import Array, eta, min_p, renormalised, smallest, typical

__all__ = ["decoder", "eta", "greedy", "min_p", "nucleus", "pure", "temperature", "top_k", "top_p", "typical"]

Decoder = Callable[[Array], Array]


def pure(p: Array) -> Array:
    """Return the distributions unchanged: sampling without a decoding method."""
    return p


def greedy(p: Array) -> Array:
    """Put all mass of each row of `p` (n, v) on its most probable token, the lowest id among equals."""
    xp = api.array_namespace(p)
    ids = xp.arange(p.shape[1], device=api.device(p))
    return xp.astype(ids == xp.argmax(p, axis=1, keepdims=True), p.dtype)


def top_k(p: Array, k: int = 5) -> Array:
    """Keep the k most probable tokens of each row and renormalise (Fan et al. 2018).

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    k : int
        Number of tokens to keep, 1 to v; 1 is `greedy` and v changes nothing.

    Returns
    -------
    array, shape (n, v)
        Distributions.

    Raises
    ------
    ValueError
        If k lies outside 1 to v.
    """
    xp = api.array_namespace(p)
    n, v = p.shape
    if not 1 <= k <= v:
        raise ValueError(f"top-k: k = {k} lies outside 1 to {v}, the size of the vocabulary")
    if k == v:
        return p
    if api.is_numpy_array(p) and v > candidates.LARGE:
        return renormalised(p, candidates.largest(p, k))
    kept = xp.full((n,), k, dtype=xp.int64, device=api.device(p))
    return renormalised(p, _largest(p, xp.sort(p, axis=1, stable=False), kept))


def top_p(p: Array, mass: float = 0.9) -> Array:
    """Keep the nucleus of each row (see `nucleus`) and renormalise (Holtzman et al. 2020).

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    mass : float
        The p of top-p, in (0, 1]; 1 changes nothing.

    Returns
    -------
    array, shape (n, v)
        Distributions.

    Raises
    ------
    ValueError
        If `mass` lies outside (0, 1].
    """
    # Rounding may bring the cumulative mass to 1 before the last token; p = 1 must keep that token too.
    return p if mass == 1 else renormalised(p, nucleus(p, mass))


def temperature(p: Array, t: float = 0.8) -> Array:
    """Raise each probability to the power 1/t and renormalise: softmax(logits / t), from probabilities.

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions; a zero stays zero.
    t : float
        Temperature, above 0; 1 changes nothing, lower values sharpen.

    Returns
    -------
    array, shape (n, v)
        Distributions.

    Raises
    ------
    ValueError
        If `t` is not a positive finite number.
    """
    if not 0 < t < math.inf:
        raise ValueError(f"temperature: {t} is not a positive finite number")
    if t == 1:
        return p
    xp = api.array_namespace(p)
    # In logarithms relative to the largest, because p ** (1/t) of a whole row may underflow. Zeros take the
    # logarithm of the smallest number and are restored by the mask, which is faster than where().
    logs = xp.log(xp.maximum(p, smallest(p)))
    powers = xp.exp((logs - xp.max(logs, axis=1, keepdims=True)) / t) * xp.astype(p > 0, p.dtype)
    powers /= xp.sum(powers, axis=1, keepdims=True)
    return powers


def nucleus(p: Array, tau: float = 0.9) -> Array:
    """Mark the smallest set of tokens that holds at least tau of each row's mass (thesis 4.1.1, V*).

    The set is the shortest prefix, in order of decreasing probability, whose cumulative mass (in float64) reaches tau.
    Where rounding keeps a row's total below tau, the set is the whole vocabulary.

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    tau : float
        Mass of the set, in (0, 1]; 0.9 in the thesis.

    Returns
    -------
    bool array, shape (n, v)
        True inside the nucleus.

    Raises
    ------
    ValueError
        If tau lies outside (0, 1].
    """
    if not 0 < tau <= 1:
        raise ValueError(f"nucleus: a mass of {tau} lies outside (0, 1]")
    if api.is_numpy_array(p) and p.shape[1] > candidates.LARGE:
        return candidates.nucleus(p, tau)
    xp = api.array_namespace(p)
    ascending = xp.sort(p, axis=1, stable=False)
    return _largest(p, ascending, _prefix_length(ascending, tau))


def decoder(settings: Mapping[str, Any], vocabulary: int | None = None) -> Decoder:
    """Return the decoding that an entry of the config's list describes, such as ``{name: top-p, p: 0.9}``.

    It maps distributions (n, v) to distributions (n, v). With `vocabulary`, a larger k is rejected here rather than at
    the first call. A `UserError` is raised if the name or a key is unknown, a key is missing, or a value is out of
    range.
    """
    if settings.get("name") not in MAPS:
        raise UserError(f"decoding: unknown name {settings.get('name')!r}; use one of {', '.join(MAPS)}")
    values = parameters(settings)
    if settings["name"] == "top-k" and values[0] > (vocabulary or values[0]):
        raise UserError(f"decoding top-k: k = {values[0]} is above {vocabulary}, the size of the vocabulary")
    function: Callable[..., Array] = globals()[settings["name"].replace("-", "_")]
    return (lambda p: function(p, *values)) if values else function


_NEAR = 16  # values to examine first: a language model's nucleus is seldom larger


def _largest(p: Array, ascending: Array, k: Array) -> Array:
    """Mark the k largest values of each row, ties by id, given the rows and the same rows sorted; k has shape (n,)."""
    xp = api.array_namespace(p)
    row = xp.arange(p.shape[0], device=api.device(p))
    start = p.shape[1] - k
    threshold = ascending[row, start]
    if not api.is_numpy_array(p):
        return _largest_among_ties(p, threshold, k)  # on a GPU, finding the rows that need it costs more
    keep = p >= threshold[:, None]
    # The threshold keeps too many only where the next smaller value equals it: few rows or none.
    (rows,) = xp.nonzero((start > 0) & (ascending[row, start - 1] == threshold))
    if rows.shape[0]:
        keep[rows, :] = _largest_among_ties(p[rows, :], threshold[rows], k[rows])
    return keep


def _largest_among_ties(p: Array, threshold: Array, k: Array) -> Array:
    xp = api.array_namespace(p)
    above, tied = p > threshold[:, None], p == threshold[:, None]
    room = k - xp.sum(xp.astype(above, xp.int64), axis=1)
    return above | (tied & (xp.cumulative_sum(xp.astype(tied, xp.int64), axis=1) <= room[:, None]))


def _prefix_length(ascending: Array, mass: float) -> Array:
    """Return the number of largest values that together reach `mass`, at most v, shape (n,)."""
    xp = api.array_namespace(ascending)
    v = ascending.shape[1]

    def short_of_mass(rows: Array) -> Array:
        falling = xp.astype(xp.flip(rows, axis=1), xp.float64)
        return xp.sum(xp.cumulative_sum(falling, axis=1) < mass, axis=1)

    if api.is_numpy_array(ascending) and v > _NEAR:
        # In NumPy a cumulative sum over whole rows costs more than sorting them, and few rows need one.
        count = short_of_mass(ascending[:, -_NEAR:])
        (far,) = xp.nonzero(count == _NEAR)
        if far.shape[0]:
            count[far] = short_of_mass(ascending[far, :])
    else:
        count = short_of_mass(ascending)
    return xp.minimum(count + 1, v)
