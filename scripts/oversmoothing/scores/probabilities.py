"""Arrays of probabilities, shape (n, v) with one distribution per row: what decodings, metrics and BAT share.

Written against the array API. It changes seldom, because nearly all that is scored or sampled depends on it.
"""

from collections.abc import Callable
from typing import Any

import array_api_compat as api

Array = Any  # any array of the array API: NumPy's, torch's, ...
Decoder = Callable[[Array], Array]  # a map from distributions (n, v) to distributions


def softmax(logits: Array) -> Array:
    """Convert logits (n, v) to distributions (n, v) of the same dtype; -inf gives 0.

    A `ValueError` is raised if a row contains NaN or +inf, or only -inf.
    """
    xp = api.array_namespace(logits)
    largest = xp.max(logits, axis=1, keepdims=True)
    if not xp.all(xp.isfinite(largest)):
        row = int(xp.argmax(xp.astype(~xp.isfinite(largest[:, 0]), xp.int64)))
        raise ValueError(f"logits: row {row} contains NaN, +inf or only -inf")
    powers = xp.exp(logits - largest)
    powers /= xp.sum(powers, axis=1, keepdims=True)
    return powers


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
