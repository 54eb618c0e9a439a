"""The nucleus of each distribution, and its largest values: sets of tokens whose ties go to the lowest ids.

A language model's nucleus seldom holds more than a few hundred of its 50,000 tokens. In NumPy, whole rows of more than
`LARGE` tokens are therefore sorted only where some of their largest values do not suffice. The sets are the same to the
last bit: mass is accumulated in float64 in the same order.
"""

from collections.abc import Callable

import array_api_compat as api
import numpy as np

from oversmoothing.scores.probabilities import Array

LARGE = 2048  # tokens
_NEAR = 16  # values to accumulate first


def nucleus(p: Array, tau: float = 0.9, some: int = LARGE) -> Array:
    """Mark the smallest set of tokens that holds at least tau of each row's mass (thesis 4.1.1, V*).

    The set is the shortest prefix, in order of decreasing probability, whose cumulative mass (in float64) reaches tau.
    Where rounding keeps a row's total below tau, the set is the whole vocabulary.

    Parameters
    ----------
    p : array, shape (n, v)
        Distributions.
    tau : float
        Mass of the set, in (0, 1]; 0.9 in the thesis.
    some : int
        How many of the largest values are sorted first.

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
    rising = _rising(p, some)
    size = _prefix_length(rising, tau)
    keep = _largest(p, rising, size)
    if rising.shape[1] < p.shape[1] and (far := np.flatnonzero(size == rising.shape[1])).size:
        keep[far, :] = nucleus(p[far, :], tau, p.shape[1])
    return keep


def largest(p: Array, k: int) -> Array:
    """Mark the k largest values of each row of `p` (n, v), 1 <= k <= v, ties by id; bool (n, v)."""
    xp = api.array_namespace(p)
    kept = xp.full((p.shape[0],), k, dtype=xp.int64, device=api.device(p))
    return _largest(p, _rising(p, k + 1), kept)


def keep_first(p: Array, size: Callable[[Array], Array]) -> Array:
    """Mark as many of the largest values of each row of `p` (n, v) as `size` says; bool (n, v).

    `size` maps rows in falling order, float64 (n, v), to whole numbers from 1 to v, shape (n,). In NumPy, rows of a
    large vocabulary are taken one at a time, so that what is computed on the way stays small.
    """
    xp = api.array_namespace(p)
    if api.is_numpy_array(p) and p.shape[1] > LARGE and p.shape[0] > 1:
        return xp.concat([keep_first(p[i : i + 1, :], size) for i in range(p.shape[0])])
    ascending = xp.sort(p, axis=1, stable=False)
    return _largest(p, ascending, size(xp.astype(xp.flip(ascending, axis=1), xp.float64)))


def _rising(p: Array, count: int) -> Array:
    """Return each row in rising order; in NumPy, of a large vocabulary only the `count` largest values."""
    if api.is_numpy_array(p) and p.shape[1] > max(LARGE, count):
        p = np.partition(p, -count, axis=1)[:, -count:]
    return api.array_namespace(p).sort(p, axis=1, stable=False)


def _largest(p: Array, ascending: Array, k: Array) -> Array:
    """Mark the k largest values of each row, ties by id, given the rows and their ends sorted; k has shape (n,)."""
    xp = api.array_namespace(p)
    row = xp.arange(p.shape[0], device=api.device(p))
    start = ascending.shape[1] - k
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
