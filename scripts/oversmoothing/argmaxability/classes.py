"""Exact set of argmaxable classes of a head, logits = W h + b (thesis 2.2.2, B).

A class is argmaxable if some h makes its logit strictly the largest (Grivas, Bogoychev and Lopez, "Low-rank softmax can
have unargmaxable classes in theory but rarely in practice", ACL 2022). With a_j = (w_j, b_j, 1), by the theorem of the
alternative exactly one of these holds for class i:

* some (h, s, t) with s > 0 has a_i (h, s, t) > a_j (h, s, t) for all j != i; h / s is then a witness;
* a_i = sum of l_j a_j over j != i plus m (0, -1, 0) with l, m >= 0: row w_i is a convex combination of other rows,
  and its bias is at most the same combination of their biases.

Without a bias, b and m vanish: class i is unargmaxable if w_i lies in the convex hull of the other rows. This includes
ties: of two equal rows neither is ever strictly the largest. A floating-point search proposes the witness or the
combination, and `oversmoothing.argmaxability.proofs` proves it; classes without a proof are undecided.
"""

import numpy as np
from scipy.linalg import helmert

from oversmoothing.argmaxability.proofs import (
    exact_combination,
    exact_gap,
    generators,
    proven_combinations,
    proven_gaps,
)
from oversmoothing.argmaxability.result import ARGMAXABLE, UNARGMAXABLE, UNDECIDED, Argmaxability
from oversmoothing.argmaxability.separation import separate_or_combine

RANK_TOLERANCE = 1e-12  # of the largest singular value; below, a direction counts as absent


def argmaxable(weights: np.ndarray, bias: np.ndarray | None = None, hidden: np.ndarray | None = None) -> Argmaxability:
    """Decide for each class of a head whether some h makes it strictly the argmax, with a proof for each.

    Parameters
    ----------
    weights : array, shape (v, d)
        Taken as exact, in float64.
    bias : array, shape (v,), optional
    hidden : array, shape (n, d), optional
        Hidden states to try as witnesses before any search, for example those of a model.

    Returns
    -------
    Argmaxability

    Raises
    ------
    ValueError
        If a shape is wrong, or a row has NaN or an infinity.
    """
    weights = _checked("weights", weights, (None, None))
    v, d = weights.shape
    if bias is not None:
        bias = _checked("bias", bias, (v,))
        bias = bias if np.ptp(bias) else None  # a constant does not change the argmax
    coordinates = _Coordinates(weights, np.zeros(v) if bias is None else bias)
    result = Argmaxability(
        np.full(v, UNDECIDED, dtype="<U12"),
        np.full((v, d), np.nan),
        np.full(v, np.nan),
        np.zeros((v, v if bias is None else v + 1)),
    )
    if hidden is not None:
        _accept_witnesses(result, weights, bias, _checked("hidden", hidden, (None, d)))
    for _ in range(2):  # again for those seen to lead, but not by enough for a proof
        left = np.flatnonzero(result.status == UNDECIDED)
        if len(left):
            directions, supports = separate_or_combine(coordinates.rows, v, left)
            _accept_witnesses(result, weights, bias, coordinates.hidden(directions))
            looked_at = left[(supports[left] >= 0).any(axis=1)]
            _accept_combinations(result, weights, bias, looked_at, supports[looked_at])
            _settle_exactly(
                result, weights, bias, looked_at, coordinates.hidden(directions[looked_at]), supports[looked_at]
            )
    return result


def reachable(weights: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Restrict a head to the outputs of a LayerNorm without bias in front of it: W diag(gain) (I - 11^T / r).

    A LayerNorm gives h = gain * x with sum(x) = 0 and a fixed norm; if the head has no bias, the norm of h does not
    affect the argmax. The product has rank r - 1 at most. It is returned as W diag(gain) Q^T for an orthonormal basis Q
    of the x with sum 0: the same logits, in r - 1 dimensions.

    Parameters
    ----------
    weights : array, shape (v, r)
    gain : array, shape (r,)
        The LayerNorm's weight.

    Returns
    -------
    float64 array, shape (v, r - 1)
        If some gains are 0, the other coordinates of x are unconstrained, and their columns are returned unprojected.

    Raises
    ------
    ValueError
        If a shape is wrong, or a value is NaN or infinite.
    """
    weights = _checked("weights", weights, (None, None))
    gain = _checked("gain", gain, (weights.shape[1],))
    if not gain.all():
        return (weights * gain)[:, gain != 0]
    return (weights * gain) @ helmert(len(gain)).T


class _Coordinates:
    """The rows (w_j, b_j) in whitened coordinates: an equivalent, well-conditioned problem.

    Attributes
    ----------
    rows : array, shape (v, m) or (v + 1, m)
        One row per class, its first coordinate 1. If the bias is not affine in the rows of the head, there is a further
        row, the ray that allows a combination to have a higher bias than the class.
    """

    def __init__(self, weights: np.ndarray, bias: np.ndarray) -> None:
        v, d = weights.shape
        self._d, self._range = d, np.ptp(bias)
        lifted = np.column_stack((weights, bias))
        centred = lifted - lifted.mean(axis=0)
        centred[:, np.abs(centred).max(axis=0) <= 4 * np.finfo(float).eps * np.abs(lifted).max(axis=0)] = 0.0
        self._scale = np.linalg.norm(centred, axis=0)
        self._scale[self._scale == 0] = 1.0
        u, s, vt = np.linalg.svd(centred / self._scale, full_matrices=False)
        kept = s > RANK_TOLERANCE * s[0]
        self._back = vt[kept] / s[kept, None] * np.sqrt(v)
        rows = np.column_stack((np.ones(v), u[:, kept] * np.sqrt(v)))
        # Along this direction no logit changes, so it can be used to bring the bias's coefficient to 1.
        self._free = np.eye(d + 1)[d] - vt[kept].T @ vt[kept, d]
        self._is_free = bool(np.linalg.norm(self._free) > 1e-6)
        if not self._is_free:
            ray = -self._back[:, d]
            rows = np.vstack((rows, np.append(0.0, ray / np.linalg.norm(ray))))
        self.rows = np.ascontiguousarray(rows)

    def hidden(self, directions: np.ndarray) -> np.ndarray:
        """Return hidden vectors (n, d) that order the logits as the directions (n, m) order the rows."""
        d = self._d
        lifted = directions[:, 1:] @ self._back
        if self._is_free:
            shift = self._free / self._free[d] * self._scale[d]
            norms = np.linalg.norm(lifted, axis=1, keepdims=True)
            lifted *= (1 + 10 * np.linalg.norm(shift)) / np.where(norms > 0, norms, 1.0)
            lifted += (1 - lifted[:, d:] / self._scale[d]) * shift
            return lifted[:, :d] / self._scale[:d]
        scores = np.partition(directions @ self.rows[:-1].T, -2, axis=1)
        # The bias's coefficient must be positive; where it is 0, this small one costs at most a quarter of the lead.
        least = (scores[:, -1] - scores[:, -2]) / (4 * self._range)
        coefficient = np.maximum(lifted[:, d] / self._scale[d], least)
        coefficient[coefficient <= 0] = 1.0  # a tie: no witness either way
        return lifted[:, :d] / self._scale[:d] / coefficient[:, None]


def _checked(name: str, values: np.ndarray, shape: tuple[int | None, ...]) -> np.ndarray:
    values = np.asarray(values, np.float64)
    if values.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, values.shape, strict=True)):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise ValueError(f"{name}: shape {values.shape}, but ({wanted}) was expected")
    if len(values) == 0:
        raise ValueError(f"{name}: no rows")
    bad = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    if bad.any():
        raise ValueError(f"{name}: row {int(bad.argmax())} has NaN or an infinite value")
    return values


def _accept_witnesses(result: Argmaxability, weights: np.ndarray, bias: np.ndarray | None, hidden: np.ndarray) -> None:
    """Record, for every class that provably leads at one of the hidden vectors, the one with the widest lead."""
    if bias is None:
        norms = np.linalg.norm(hidden, axis=1, keepdims=True)
        hidden = hidden / np.where(norms > 0, norms, 1.0)
    leader, margin = proven_gaps(weights, bias, hidden)
    widest = np.full(len(weights), -1)
    order = np.argsort(margin)
    widest[leader[order]] = order  # for repeated indices the last value is kept
    classes = np.flatnonzero(widest >= 0)
    classes = classes[margin[widest[classes]] > np.fmax(result.margin[classes], 0)]
    result.status[classes] = ARGMAXABLE
    result.hidden[classes], result.margin[classes] = hidden[widest[classes]], margin[widest[classes]]


def _accept_combinations(
    result: Argmaxability, weights: np.ndarray, bias: np.ndarray | None, classes: np.ndarray, supports: np.ndarray
) -> None:
    """Record the combinations proven by interval arithmetic: supports with as many rows as equations."""
    columns = generators(weights, bias)
    square = (supports >= 0).sum(axis=1) == columns.shape[1]
    square &= result.status[classes] == UNDECIDED
    classes, supports = classes[square], supports[square, : columns.shape[1]]
    proven, values = proven_combinations(columns, classes, supports)
    classes = classes[proven]
    result.status[classes] = UNARGMAXABLE
    result.combination[classes[:, None], supports[proven]] = values[proven]


def _settle_exactly(
    result: Argmaxability,
    weights: np.ndarray,
    bias: np.ndarray | None,
    classes: np.ndarray,
    hidden: np.ndarray,
    supports: np.ndarray,
) -> None:
    """Decide in rational arithmetic what interval arithmetic leaves open: ties, and rows on a face of the hull."""
    rows = generators(weights, bias)
    for i, h, padded in zip(classes, hidden, supports, strict=True):
        if result.status[i] != UNDECIDED:
            continue
        support = padded[padded >= 0]
        shares = np.linalg.lstsq(rows[support].T, rows[i])[0]
        essential = support[shares > 1e-9]  # without those present only by rounding
        exact = exact_combination(weights, bias, i, essential.tolist())
        exact = exact or exact_combination(weights, bias, i, support.tolist())
        if exact is not None:
            result.status[i] = UNARGMAXABLE
            result.combination[i, list(exact)] = [float(value) for value in exact.values()]
        elif np.isfinite(h).all() and (gap := exact_gap(weights, bias, i, h)) > 0:
            result.status[i], result.hidden[i] = ARGMAXABLE, h
            result.margin[i] = np.nextafter(float(gap), 0)  # float() may have rounded up
