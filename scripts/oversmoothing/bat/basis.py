"""What a head fixes of a distribution: the directions in which a truth may not differ from the model.

At a minimum of the cross-entropy the gradient with respect to the logits' input vanishes. If the input h of the head
is free, that says W^T p = W^T p* for the truth p* (thesis appendix D; Finlayson et al. 2024): p and p* agree on the
column space of W, and, being distributions, on the constant vector.

If a LayerNorm without bias stands before the head, h = gain * n with n = (z - mean z) / sd z, the input is not free:
h moves only along the Jacobian of the norm, diag(gain) (I - 1 1^T / r - n n^T / r) / sd. So stationarity holds on
that tangent space alone: (p - p*)^T W diag(gain) a = 0 for every a that is orthogonal to 1 and to n. This drops two
directions of W; the second of them, n, is another one at every position. Fewer constraints leave more room for q:
under this condition the reject sets are larger, and the closed form for a full rank needs two dimensions more.
"""

from dataclasses import dataclass

import numpy as np

from oversmoothing.spectra import behind_norm

RANK_TOLERANCE = 1e-10  # singular values below this share of the largest are rounding


@dataclass(frozen=True)
class Basis:
    """The constraints that one head puts on every distribution, shared by all positions.

    Attributes
    ----------
    columns : float64 array, shape (v, m)
        Orthonormal; they span the column space of [W, 1].
    """

    columns: np.ndarray

    @property
    def full(self) -> bool:
        """Whether nothing is free: then q = p is the only solution, and no token is rejected."""
        return self.columns.shape[1] >= self.columns.shape[0]


@dataclass(frozen=True)
class TangentBasis(Basis):
    """The constraints behind a LayerNorm: `columns`, less one direction that depends on the hidden state.

    Attributes
    ----------
    columns : float64 array, shape (v, m)
        Orthonormal; they span the column space of [W diag(gain) (I - 1 1^T / r), 1].
    gain : float64 array, shape (r,)
        Weights of the LayerNorm.
    coordinates : float64 array, shape (m, r + 1)
        Of [W diag(gain) (I - 1 1^T / r), 1] in that basis.
    """

    gain: np.ndarray
    coordinates: np.ndarray

    def normals(self, post: np.ndarray) -> np.ndarray:
        """Return the direction of the basis that each hidden state leaves free.

        Parameters
        ----------
        post : array, shape (n, r)
            What enters the head, h = gain * n.

        Returns
        -------
        float64 array, shape (n, m)
            Unit vectors c: the constraints are those combinations of `columns` that are orthogonal to c. Zero where
            the head has so many dimensions that dropping n drops no constraint.
        """
        n = post / self.gain
        n -= n.mean(axis=1, keepdims=True)
        wanted = np.concatenate([n, np.zeros((len(n), 1))], axis=1)  # c^T coordinates = (n, 0), up to its length
        normals = wanted @ np.linalg.pinv(self.coordinates, rcond=RANK_TOLERANCE)
        missed = np.linalg.norm(normals @ self.coordinates - wanted, axis=1) > 1e-6 * np.linalg.norm(n, axis=1)
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        return np.where(missed[:, None] | (lengths == 0), 0.0, normals / np.where(lengths == 0, 1, lengths))


def prepare(weights: np.ndarray) -> Basis:
    """Prepare a head once for all its positions, under the thesis's condition W^T q = W^T p.

    Parameters
    ----------
    weights : array, shape (v, d)
        The head W. Its columns may depend on each other, and its rows may repeat.

    Raises
    ------
    ValueError
        If `weights` is not a matrix or holds NaN or infinity.
    """
    return Basis(_orthonormal(_checked(weights)))


def prepare_tangent(weights: np.ndarray, gain: np.ndarray) -> TangentBasis:
    """Prepare a head behind a LayerNorm, under the condition that holds on the norm's tangent space.

    Parameters
    ----------
    weights : array, shape (v, r)
    gain : array, shape (r,)
        Weights of the LayerNorm, which has no bias. None may be 0: h would not tell n.

    Raises
    ------
    ValueError
        If the shapes do not fit, a value is not finite or a gain is 0.
    """
    weights, gain = _checked(weights), np.asarray(gain, np.float64)
    if gain.shape != weights.shape[1:] or not np.isfinite(gain).all() or not gain.all():
        raise ValueError(
            f"gain {gain.shape} must hold one finite weight, not 0, for each of {weights.shape[1]} columns"
        )
    reached = behind_norm(weights, gain)
    columns = _orthonormal(reached)
    with_ones = np.concatenate([reached, np.ones((len(reached), 1))], axis=1)
    return TangentBasis(columns, gain, columns.T @ with_ones)


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
    centred = weights - weights.mean(axis=0)
    columns = np.concatenate([centred, np.ones((len(weights), 1))], axis=1)
    lengths = np.linalg.norm(columns, axis=0)
    u, s, _ = np.linalg.svd(columns[:, lengths > 0] / lengths[lengths > 0], full_matrices=False)
    return np.ascontiguousarray(u[:, s > RANK_TOLERANCE * s[0]])
