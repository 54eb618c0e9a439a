"""A linear head as an exponential family: the coordinates in which a projection is computed."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from scipy.linalg import qr, svd

RANK_TOLERANCE = 1e-10  # singular values below this share of the largest are rounding errors
PAIRS = 1 << 25  # numbers in the products of all pairs of columns
LARGE = 1 << 25  # numbers in a head above which its scatter takes the place of a singular value decomposition,
EVEN = 1e-6  # where the ratio of the extreme eigenvalues is above this: its columns are then orthonormal up to 1e-9
BLOCK = 4096  # rows of a large head in float64 at a time


@dataclass(frozen=True)
class Head:
    """The distributions {softmax(b + W h)} of a head, in coordinates theta with b + W h = b + U theta + constant.

    Attributes
    ----------
    columns : float64 array, shape (v, m)
        U, an orthonormal basis of the centred columns of W; m is the rank of the family.
    back : float64 array, shape (m, r)
        Maps theta to the shortest hidden vector h with U theta = W h up to a constant.
    bias : float64 array, shape (v,)
        b, zeros without a bias.
    """

    columns: np.ndarray
    back: np.ndarray
    bias: np.ndarray

    @property
    def full(self) -> bool:
        """Whether the head gives every positive distribution."""
        return self.columns.shape[1] >= len(self.columns) - 1

    @cached_property
    def pairs(self) -> np.ndarray | None:
        """Products of all pairs of columns, (v, m (m + 1) / 2); None if they are too many."""
        return pair_products(self.columns)

    def coordinates(self, log_q: np.ndarray) -> np.ndarray:
        """Return the coordinates theta (n, m) of the distributions closest, in log-probability, to log_q (n, v)."""
        return (log_q - self.bias) @ self.columns  # the columns are centred, so the normaliser drops out


def prepare(weights: np.ndarray, bias: np.ndarray | None = None) -> Head:
    """Return a head in the coordinates in which distributions are projected, to be used for many calls.

    Parameters
    ----------
    weights : array, shape (v, r)
        The head W. Columns may be dependent, rows may repeat.
    bias : array, shape (v,), optional
        The head's bias b.

    Returns
    -------
    Head

    Raises
    ------
    ValueError
        If the shapes do not match, or a value is NaN or infinite.

    Examples
    --------
    The second column is twice the first, so the family has one dimension.

    >>> import numpy as np
    >>> from oversmoothing import forced
    >>> head = forced.prepare(np.array([[1.0, 2.0], [0.0, 0.0], [-1.0, -2.0]]))
    >>> head.columns.shape, head.full
    ((3, 1), False)
    """
    weights = np.asarray(weights)
    if weights.size <= LARGE or weights.dtype != np.float32:  # of a large head no copy is made
        weights = weights.astype(np.float64, copy=False)
    if weights.ndim != 2 or not weights.size:
        raise ValueError(f"weights {weights.shape} must be a matrix (v, r)")
    bias = np.zeros(len(weights)) if bias is None else np.asarray(bias, np.float64)
    if bias.shape != weights.shape[:1]:
        raise ValueError(f"bias {bias.shape} must have one value for each of {len(weights)} tokens")
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise ValueError("weights and bias must be finite")
    if weights.size > LARGE:
        if (found := _by_scatter(weights)) is not None:
            return Head(*found, bias)
        weights = weights.astype(np.float64, copy=False)
    centred = weights - weights.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    scale = np.where(lengths > 0, lengths, 1.0)  # badly scaled columns count as much as others
    u, s, vt = svd(centred / scale, full_matrices=False, check_finite=False)
    rank = int(np.count_nonzero(s > RANK_TOLERANCE * max(s[0], 1e-300))) if lengths.any() else 0
    columns = (u[:, :rank] - u[:, :rank].mean(axis=0))[_first_equal(centred)]
    back = (vt[:rank].T / s[:rank]).T / scale
    if rank < weights.shape[1]:  # of the vectors that give the same, the one among combinations of the rows
        rows = qr((vt[:rank] * scale).T, mode="economic")[0]
        back = back @ rows @ rows.T
    return Head(np.ascontiguousarray(columns), back, bias)


def _by_scatter(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return `columns` and `back` of a `Head` in the memory of its columns; None where the scatter is too uneven."""
    mean = weights.mean(axis=0, dtype=np.float64)
    blocks = [slice(start, start + BLOCK) for start in range(0, len(weights), BLOCK)]
    scatter = np.zeros((len(mean), len(mean)))
    for block in blocks:
        centred = weights[block] - mean
        scatter += centred.T @ centred
    values, vectors = np.linalg.eigh(scatter)
    if not values[0] > EVEN * values[-1]:
        return None
    back = np.ascontiguousarray((vectors / np.sqrt(values)).T)
    columns = np.empty(weights.shape)
    for block in blocks:
        np.matmul(weights[block] - mean, back.T, out=columns[block])
    columns -= columns.mean(axis=0)
    first = _first_equal(weights)
    again = np.flatnonzero(first != np.arange(len(first)))
    columns[again] = columns[first[again]]
    return columns, back


def _first_equal(rows: np.ndarray) -> np.ndarray:
    """Return for each row the first that is equal, int (v,): these stay equal where rounding would set them apart."""
    equal: dict[bytes, int] = {}
    return np.array([equal.setdefault(blake2b(row + 0.0, digest_size=16).digest(), i) for i, row in enumerate(rows)])


def pair_products(columns: np.ndarray) -> np.ndarray | None:
    """Return products u_a u_b of all pairs of columns, (v, m (m + 1) / 2), so that Hessians are one product.

    None if they are too large.
    """
    v, m = columns.shape
    first, second = np.tril_indices(m)
    return columns[:, first] * columns[:, second] if v * len(first) <= PAIRS else None
