"""What the rows of a head tell of its tokens: directions in which they differ most, and rows that nothing moved.

Both are of the centred head, W less its mean row: a softmax does not see what all logits have in common.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import helmert

ROWS = 4096  # in float64 at a time
EVEN = 1e-6  # ratio of the extreme eigenvalues of a scatter from which its roots are exact enough
FLAT = 1e-6  # share of the longest semi-axis below which one counts as zero


class Moments(NamedTuple):
    """Of the rows of a head (v, d): their mean (d,), and W_c^T W_c of the centred head W_c, float64 (d, d)."""

    mean: np.ndarray
    scatter: np.ndarray


def moments(weights: np.ndarray) -> Moments:
    """Return the mean and the scatter of the rows of a head (v, d)."""
    mean = weights.mean(axis=0, dtype=np.float64)
    return Moments(mean, sum((rows.T @ rows for rows in _centred(weights, mean)), np.zeros((len(mean), len(mean)))))


def leading_directions(weights: np.ndarray, of: Moments, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of the variance (n,) and the coordinates of the rows (v, n) in leading singular directions.

    n is `count` or, if that is less, the width. The token with the largest coordinate has a positive one. Without any
    variance the shares are zero.
    """
    values, vectors = np.linalg.eigh(of.scatter)
    values = values[::-1].clip(min=0)
    directions = vectors[:, ::-1][:, :count]
    coordinates = np.concatenate([rows @ directions for rows in _centred(weights, of.mean)])
    furthest = np.take_along_axis(coordinates, abs(coordinates).argmax(axis=0)[None], axis=0)
    return values[:count] / (values.sum() or 1.0), coordinates * np.where(furthest < 0, -1.0, 1.0)


def orthonormal(weights: np.ndarray, of: Moments) -> np.ndarray | None:
    """Return an orthonormal basis of the column space of [W, 1], float64 (v, d + 1), in a fraction of an SVD's time.

    It is made of the scatter, so None where that is so uneven that the columns would not be orthonormal up to 1e-9.
    """
    values, vectors = np.linalg.eigh(of.scatter)
    if len(weights) <= len(values) or values[0] < EVEN * values[-1]:
        return None
    scaled = vectors / np.sqrt(values)
    columns = np.empty((len(weights), len(values) + 1))
    columns[:, 0] = 1 / np.sqrt(len(weights))
    np.concatenate([rows @ scaled for rows in _centred(weights, of.mean)], out=columns[:, 1:])
    return columns


def distances(weights: np.ndarray, of: Moments) -> np.ndarray:
    """Return the distance of each row of a head from their mean, float64 (v,).

    Tokens that no text contained share the gradients of all others, so their rows stay together (Land and Bartolo,
    "Fishing for Magikarp", 2024, section 2).
    """
    return np.concatenate([np.linalg.norm(rows, axis=1) for rows in _centred(weights, of.mean)])


def semi_axes(of: Moments, gain: np.ndarray, centres: bool) -> np.ndarray:
    """Return the semi-axes of the ellipsoid of centred logits behind a norm, in nats, decreasing, float64 (n,).

    A norm passes h = gain * x with |x|^2 = d, and sum(x) = 0 if it `centres`, as a LayerNorm does and an RMSNorm does
    not. So W_c h lies on an ellipsoid, whose semi-axes are sqrt(d) times the singular values of W_c diag(gain) on that
    sphere (Finlayson et al., "Every language model has a forgery-resistant signature", 2025). Left out are directions
    that no logit notices.
    """
    image = gain[:, None] * of.scatter * gain
    if centres:
        basis = helmert(len(gain))
        image = basis @ image @ basis.T
    axes = np.sqrt(np.linalg.eigvalsh(image)[::-1].clip(min=0) * len(gain)) if len(image) else np.zeros(0)
    return axes[axes > FLAT * axes.max(initial=0)]


def _centred(weights: np.ndarray, mean: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(weights), ROWS):
        yield weights[start : start + ROWS] - mean
