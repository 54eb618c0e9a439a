"""The largest values of each row, as many as the row itself decides; ties go to the lowest ids."""

from collections.abc import Callable

import array_api_compat as api

from oversmoothing.scores import candidates
from oversmoothing.scores.probabilities import Array


def keep_first(p: Array, size: Callable[[Array], Array]) -> Array:
    """Mark as many of the largest values of each row of `p` (n, v) as `size` says; bool (n, v).

    `size` maps rows in falling order, float64 (n, v), to whole numbers from 1 to v, shape (n,). In NumPy, rows of a
    large vocabulary are taken one at a time, so that what is computed on the way stays small.
    """
    xp = api.array_namespace(p)
    if api.is_numpy_array(p) and p.shape[1] > candidates.LARGE and p.shape[0] > 1:
        return xp.concat([keep_first(p[i : i + 1, :], size) for i in range(p.shape[0])])
    falling = xp.flip(xp.sort(p, axis=1, stable=False), axis=1)
    kept = size(xp.astype(falling, xp.float64))
    threshold = falling[xp.arange(p.shape[0], device=api.device(p)), kept - 1][:, None]
    above, tied = p > threshold, p == threshold
    room = kept - xp.sum(xp.astype(above, xp.int64), axis=1)
    return above | (tied & (xp.cumulative_sum(xp.astype(tied, xp.int64), axis=1) <= room[:, None]))
