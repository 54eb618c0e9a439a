"""Constraints of a head on a distribution: the directions in which the truth cannot differ from the model.

At a minimum of the cross-entropy, the gradient with respect to the input h of the head vanishes. If h is free, this
means W^T p = W^T p* for the truth p* (thesis appendix D; Finlayson et al. 2024): p and p* agree on the column space of
W and, since both are distributions, on the constant vector.

After a LayerNorm without bias, h = gain * n with n = (z - mean z) / sd z is not free: it moves only along the Jacobian
of the norm, diag(gain) (I - 1 1^T / r - n n^T / r) / sd. Stationarity then holds only on that tangent space:
(p - p*)^T W diag(gain) a = 0 for every a that is orthogonal to 1 and to n. This drops two directions of W, of which the
second, n, differs between positions. With fewer constraints on q the reject sets are larger, and the closed form for a
full rank needs two more dimensions.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import svd

from oversmoothing.numerics.layer_norm import behind_norm

RANK_TOLERANCE = 1e-10  # singular values below this share of the largest are rounding errors


@dataclass(frozen=True)
class Basis:
    """The constraints that a head W (v, d) puts on every distribution, the same at all positions.

    Attributes
    ----------
    columns : float64 array, shape (v, m)
        Orthonormal; they span the column space of [W, 1].
    twins : int array, shape (v,), or None
        For each token the first whose row of W is equal; None if no two are.
    """

    columns: np.ndarray
    twins: np.ndarray | None = field(default=None, kw_only=True)

    @property
    def full(self) -> bool:
        """Whether q = p is the only solution, so that no token with mass is rejected."""
        return self.columns.shape[1] >= self.columns.shape[0]


@dataclass(frozen=True)
class TangentBasis(Basis):
    """The constraints of a head W (v, r) behind a LayerNorm.

    Its `columns` span those of W diag(gain) (I - 1 1^T / r) and the constant vector. At each position one direction
    of them is free.

    Attributes
    ----------
    columns, twins
        As those of `Basis`.
    gain : float64 array, shape (r,)
        Weights of the LayerNorm.
    coordinates : float64 array, shape (m, r + 1)
        Coordinates of [W diag(gain) (I - 1 1^T / r), 1] in that basis.
    """

    gain: np.ndarray
    coordinates: np.ndarray

    def normals(self, post: np.ndarray) -> np.ndarray:
        """Return the direction of the basis that each hidden state leaves free.

        For what enters the head, h = gain * n, (n, r), these are unit vectors c, float64 (n, m): the constraints are
        the combinations of `columns` that are orthogonal to c. It is zero where the head has so many dimensions that
        dropping n drops no constraint.
        """
        n = post / self.gain
        n -= n.mean(axis=1, keepdims=True)
        wanted = np.concatenate([n, np.zeros((len(n), 1))], axis=1)  # c^T coordinates = (n, 0), up to a factor
        normals = wanted @ np.linalg.pinv(self.coordinates, rcond=RANK_TOLERANCE)
        missed = np.linalg.norm(normals @ self.coordinates - wanted, axis=1) > 1e-6 * np.linalg.norm(n, axis=1)
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        return np.where(missed[:, None] | (lengths == 0), 0.0, normals / np.where(lengths == 0, 1, lengths))


def prepare(weights: np.ndarray) -> Basis:
    """Return the constraints of a head under the condition W^T q = W^T p (thesis appendix D).

    Parameters
    ----------
    weights : array, shape (v, d)
        The head W. Its columns may be linearly dependent, and its rows may repeat.

    Returns
    -------
    Basis

    Raises
    ------
    ValueError
        If `weights` is not a matrix or contains NaN or infinity.

    Examples
    --------
    A head of one dimension leaves the distributions of three tokens one direction, (1, -2, 1).

    >>> import numpy as np
    >>> from oversmoothing import bat
    >>> basis = bat.prepare(np.array([[1.0], [2.0], [3.0]]))
    >>> basis.columns.shape, bool(np.allclose([1, -2, 1] @ basis.columns, 0))
    ((3, 2), True)
    """
    weights = _checked(weights)
    return Basis(_orthonormal(weights), twins=find_twins(weights))


def prepare_tangent(weights: np.ndarray, gain: np.ndarray) -> TangentBasis:
    """Return the constraints of a head behind a LayerNorm, under the condition on the norm's tangent space.

    The input of the head, h = gain * n, moves only along that space. So a q has to meet fewer conditions than
    W^T q = W^T p, and more tokens are rejected.

    Parameters
    ----------
    weights : array, shape (v, r)
        The head W.
    gain : array, shape (r,)
        Weights of the LayerNorm, which has no bias; not 0, since h would not determine n.

    Returns
    -------
    TangentBasis

    Raises
    ------
    ValueError
        If the shapes do not match, a value is not finite or a gain is 0.

    Examples
    --------
    The condition W^T q = W^T p leaves this head q = p alone. At each position the norm frees one direction.

    >>> import numpy as np
    >>> from oversmoothing import bat
    >>> weights, gain, p = np.eye(3), np.ones(3), np.array([0.4, 0.2, 0.4])
    >>> bat.reject_set(bat.prepare(weights), p, delta=1).rejected
    array([[False, False, False]])
    >>> post = np.array([1.0, -2.0, 1.0]) / np.sqrt(2)  # what enters the head: of mean 0 and variance 1
    >>> bat.reject_set(bat.prepare_tangent(weights, gain), p, delta=1, post=post).rejected
    array([[False,  True, False]])
    """
    weights, gain = _checked(weights), np.asarray(gain, np.float64)
    if gain.shape != weights.shape[1:] or not np.isfinite(gain).all() or not gain.all():
        raise ValueError(f"gain {gain.shape} must hold a finite weight, not 0, for each of {weights.shape[1]} columns")
    reached = behind_norm(weights, gain)
    columns = _orthonormal(reached)
    with_ones = np.concatenate([reached, np.ones((len(reached), 1))], axis=1)
    return TangentBasis(columns, gain, columns.T @ with_ones, twins=find_twins(weights))


def find_twins(weights: np.ndarray) -> np.ndarray | None:
    """Return for each row the first that is equal, (v,); None if no two are. It may miss some where sums are equal."""
    _, first, key = np.unique(weights.sum(axis=1, dtype=np.float64), return_index=True, return_inverse=True)
    if len(first) == len(weights):
        return None
    twins = np.arange(len(weights))
    doubtful = np.flatnonzero(first[key] != twins)
    equal = doubtful[(weights[doubtful] == weights[first[key[doubtful]]]).all(axis=1)]
    twins[equal] = first[key[equal]]
    return twins if len(equal) else None


def _checked(weights: np.ndarray) -> np.ndarray:
    weights = np.asarray(weights, np.float64)
    if weights.ndim != 2 or not weights.size:
        raise ValueError(f"weights {weights.shape} must be a matrix (v, d)")
    if not np.isfinite(weights).all():
        row = int(np.argmin(np.isfinite(weights).all(axis=1)))
        raise ValueError(f"weights: row {row} has NaN or infinity")
    return weights


def _orthonormal(weights: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (v, m) of the column space of [W, 1]."""
    columns = np.ones((len(weights), weights.shape[1] + 1), order="F")  # LAPACK's order, which saves a copy
    np.subtract(weights, weights.mean(axis=0), out=columns[:, :-1])
    lengths = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    if not lengths.all():
        columns, lengths = columns[:, lengths > 0], lengths[lengths > 0]
    columns /= lengths
    u, s, _ = svd(columns, full_matrices=False, overwrite_a=True, check_finite=False)
    del columns
    return np.ascontiguousarray(u[:, : np.count_nonzero(s > RANK_TOLERANCE * s[0])])
