"""The rows of a head, with their biases, in whitened coordinates: an equivalent, well-conditioned problem."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import qr

RANK_TOLERANCE = 1e-12  # of the largest singular value; below, a direction counts as absent,
NEARLY = 1e-9  # and below this one the columns as nearly dependent
BLOCK = 4096  # rows at a time, so that no copy of the head is made but the whitened one


class Coordinates:
    """The rows (w_j, b_j) in whitened coordinates.

    `rows`, (v, m), has one row per class, its first coordinate 1. If the bias is not affine in the rows of the head,
    there is a further row, the ray that allows a combination to have a higher bias than the class. `nearly_dependent`
    says whether columns, or the bias, are combinations of others or a constant, up to rounding. Without a bias, and
    where no column is constant, `back` (m - 1, d) is the transpose of B in the other coordinates, (w_j - mean) B.
    """

    def __init__(self, weights: np.ndarray, bias: np.ndarray) -> None:
        v, d = weights.shape
        self._d, self._range = d, np.ptp(bias)
        upper, mean, self._scale, idle = triangle(weights, bias)
        _, s, vt = np.linalg.svd(upper, full_matrices=False)
        self.nearly_dependent = bool((s > NEARLY * s[0]).sum() < d + (self._range > 0))
        kept = s > RANK_TOLERANCE * s[0]
        self._back = vt[kept] / s[kept, None] * np.sqrt(v)
        self.back = None if self._range or idle[:d].any() else self._back[:, :d] / self._scale[:d]
        # Along this direction no logit changes, so it can be used to bring the bias's coefficient to 1.
        self._free = np.eye(d + 1)[d] - vt[kept].T @ vt[kept, d]
        self._is_free = bool(np.linalg.norm(self._free) > 1e-6)
        self.rows = np.empty((v + (not self._is_free), len(self._back) + 1))
        self.rows[:, 0] = 1.0
        start = 0
        for part in _centred(weights, bias, mean):
            part[:, idle] = 0.0
            np.matmul(part / self._scale, self._back.T, out=self.rows[start : start + len(part), 1:])
            start += len(part)
        if not self._is_free:
            ray = -self._back[:, d]
            self.rows[v] = np.append(0.0, ray / np.linalg.norm(ray))

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
        scores = directions @ self.rows[:-1].T
        scores.partition(-2, axis=1)
        # The bias's coefficient must be positive; where it is 0, this small one costs at most a quarter of the lead.
        least = (scores[:, -1] - scores[:, -2]) / (4 * self._range)
        coefficient = np.maximum(lifted[:, d] / self._scale[d], least)
        coefficient[coefficient <= 0] = 1.0  # a tie: no witness either way
        return lifted[:, :d] / self._scale[:d] / coefficient[:, None]


def triangle(weights: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Factorise the centred and scaled columns of a head with its bias, a block of rows at a time.

    Return R of their QR decomposition (min(v, d + 1), d + 1); what was subtracted from each column and what it was
    divided by (d + 1,); and whether it is constant up to rounding, and so counts as zero (d + 1,).
    """
    mean = np.append(weights.mean(axis=0, dtype=np.float64), bias.mean())
    largest = np.maximum(weights.max(axis=0), -weights.min(axis=0))  # without a copy of the array
    widest = np.append(largest, np.abs(bias).max())
    spread = np.max([np.abs(part).max(axis=0) for part in _centred(weights, bias, mean)], axis=0)
    idle = spread <= 4 * np.finfo(float).eps * widest
    idle[:-1] |= weights.min(axis=0) == weights.max(axis=0)  # whatever the rounding of the mean
    scale = np.sqrt(sum((part**2).sum(axis=0) for part in _centred(weights, bias, mean)))
    scale[idle | (scale == 0)] = np.inf  # the column becomes 0
    upper = np.empty((0, len(mean)))
    for part in _centred(weights, bias, mean):
        upper = qr(np.vstack((upper, part / scale)), mode="r", check_finite=False)[0][: len(mean)]
    scale[np.isinf(scale)] = 1.0
    return upper, mean, scale, idle


def _centred(weights: np.ndarray, bias: np.ndarray, mean: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(weights), BLOCK):
        block = slice(start, start + BLOCK)
        yield np.column_stack((weights[block], bias[block])) - mean
