"""The distribution of a head that is nearest to a truth, where a norm stands in front of the head.

A LayerNorm without a bias outputs h = gain * s with sum(s) = 0 and |s|^2 = r var / (var + epsilon), var being the
variance of its input. While that is large beside epsilon (1e-5), h lies on an ellipsoid, the image of the sphere
|s| = sqrt(r) in r - 1 dimensions. Only an input that is nearly constant comes to lie inside. An RMSNorm has the mean
square in place of the variance and leaves sum(s) free, so its sphere has r dimensions.

The divergence f = KL(p || softmax(b + W h)) is convex in s, the sphere is not. There are two cases:

- The minimum of the free problem (`projection`) lies outside the sphere or on it. Then the minimum over the ball lies
  on the sphere. With g the gradient at a point s of the sphere, f(x) >= f(s) - g . s - sqrt(r) |g| for all x in the
  ball. At the minimum g points inwards and the two last terms cancel, which proves it.
- It lies inside. Then there may be several local minima. The best of several descents is an upper bound, and the free
  minimum a lower one.

If a direction of s changes no distribution, as where r > v, then each point of the ball has one on the sphere that
gives the same, and a free minimum inside the ball is reached.

References
----------
J. Ba, J. Kiros and G. Hinton, "Layer normalization", 2016.
B. Zhang and R. Sennrich, "Root mean square layer normalization", 2019.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import null_space

from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.head import pair_products, prepare
from oversmoothing.forced.projection import ROUNDING, project_on
from oversmoothing.forced.sphere import LAST, Family, descend, gap_in_ball, lowest_of_quadratic, scaled
from oversmoothing.numerics.distributions import distributions
from oversmoothing.numerics.layer_norm import behind_norm

RANDOM = 4  # starts beside those that are derived from the free minimum
ENOUGH = 1e-7  # nats: a gap at which no further start is tried


@dataclass(frozen=True)
class OnEllipsoid:
    """The nearest distributions q to n truths that were found for a norm and a head.

    Attributes
    ----------
    log_q : float64 array, shape (n, v)
        Log-probabilities of q.
    hidden : float64 array, shape (n, r)
        h = gain * s with |s|^2 = r, and behind a LayerNorm sum(s) = 0, that gives them.
    forced : float64 array, shape (n,)
        KL(p || q) in nats: an upper bound of what norm and head force together.
    gap : float64 array, shape (n,)
        The true value lies in [forced - gap, forced]. It is tiny where the free minimum lies outside the
        ellipsoid; where it lies inside, it reaches down to the free minimum.
    start : int8 array, shape (n,)
        Which start led there. 0: the minimum on the sphere of the divergence's second-order approximation at the free
        minimum; 1: the free minimum moved to the sphere; 2: the point opposite; 3: the start that was given; 4: a
        random point. -1 where the free minimum itself is reached.
    """

    log_q: np.ndarray
    hidden: np.ndarray
    forced: np.ndarray
    gap: np.ndarray
    start: np.ndarray


def project_on_ellipsoid(
    weights: np.ndarray,
    gain: np.ndarray,
    p: np.ndarray,
    bias: np.ndarray | None = None,
    start: np.ndarray | None = None,
    random: int = RANDOM,
    centres: bool = True,
) -> OnEllipsoid:
    """Return the nearest distributions to truths that were found for a head behind a LayerNorm or an RMSNorm.

    The norm keeps the length of what enters the head, so its distributions are no convex family, and the divergence is
    an upper bound of what norm and head force together.

    Parameters
    ----------
    weights : array, shape (v, r)
        The head W.
    gain : array, shape (r,)
        The norm's weight.
    p : array, shape (n, v) or (v,)
        Truths. Zeros are allowed.
    bias : array, shape (v,), optional
        Of the head. A bias c of the norm adds `weights @ c` to it.
    start : array, shape (n, v), optional
        Log-probabilities from which one of the descents begins, such as a model's.
    random : int
        Number of descents from random points, the same for all positions.
    centres : bool
        Whether the norm subtracts the mean, as a LayerNorm does and an RMSNorm does not.

    Returns
    -------
    OnEllipsoid

    Raises
    ------
    ValueError
        If shapes do not match, a value is not finite or a row of `p` is not a distribution.

    Examples
    --------
    Of two dimensions the norm leaves two points, (1, -1) and (-1, 1), so this head gives two distributions. Without
    the norm it gives every one, and forces nothing.

    >>> import numpy as np
    >>> from oversmoothing import forced
    >>> weights, gain, p = np.eye(3)[:, :2], np.ones(2), np.array([[0.5, 0.1, 0.4]])
    >>> forced.project(weights, p).forced
    array([0.])
    >>> near = forced.project_on_ellipsoid(weights, gain, p)
    >>> near.hidden.round(6), np.exp(near.log_q).round(4)
    (array([[ 1., -1.]]), array([[0.6652, 0.09  , 0.2447]]))
    """
    norm = BehindNorm(weights, gain, bias, centres)
    return norm.project(distributions(p, len(norm.head.columns)), start, random)


class BehindNorm:
    """A head behind its norm, as of `project_on_ellipsoid`: coordinates y of s = sqrt(r) B^T y, and what they give."""

    def __init__(self, weights: np.ndarray, gain: np.ndarray, bias: np.ndarray | None, centres: bool) -> None:
        behind = behind_norm(weights, gain)  # which also checks the gain
        if not centres:
            behind = np.asarray(weights, np.float64) * gain
        self.gain, self.head = gain, prepare(behind, bias)
        self.basis = np.linalg.qr(self.head.back.T)[0].T  # B, (k, r), orthonormal
        self.radius = np.sqrt(behind.shape[1])
        columns = (behind - behind.mean(axis=0)) @ self.basis.T * self.radius
        self.family = Family(self.head.bias, columns, pair_products(columns))
        left_out = [np.ones((1, behind.shape[1]))] if centres else []
        self.unused = null_space(np.vstack([*left_out, self.basis])).T  # that change no distribution

    def project(
        self, p: np.ndarray, start: np.ndarray | None = None, random: int = RANDOM, enough: float = ENOUGH
    ) -> OnEllipsoid:
        """Return what `project_on_ellipsoid` returns for distributions that are checked.

        A gap of `enough` nats needs no further start.
        """
        free = project_on(self.head, p, start)
        family, centre = self.family, self._coordinates(free.hidden)
        moments = p @ family.columns
        given = None if start is None else self._coordinates(self.head.coordinates(start) @ self.head.back)
        fills_ball = len(self.unused) > 0 or not len(self.basis)  # so that the sphere gives what is inside it
        sought = left = np.flatnonzero((np.linalg.norm(centre, axis=1) >= 1) | (not fills_ball))
        y, log_q, gap, first = centre.copy(), free.log_q.copy(), free.gap.copy(), np.full(len(p), -1, np.int8)
        lowest, gap[left] = np.full(len(p), np.inf), np.inf
        for number, points in _starts(family, centre, given, random):
            if not len(left):
                break
            end = descend(family, moments[left], points(left))
            height, gradient = family.height(moments[left], end)
            above_free = height - family.height(moments[left], centre[left])[0] + free.gap[left]
            proved = np.minimum(gap_in_ball(gradient, end), above_free)
            better = height < lowest[left] - LAST
            some = left[better]
            y[some], lowest[some], gap[some], first[some] = end[better], height[better], proved[better], number
            outwards = (gradient * end).sum(axis=1) > 0  # else a minimum on the sphere is one in the ball
            left = left[outwards & (proved > enough)]
        log_q[sought] = family.log_q(y[sought])
        forced = divergence(p, log_q)
        rounding = 4 * ROUNDING * np.linalg.norm(family.columns)
        return OnEllipsoid(log_q, self.gain * self._outputs(y), forced, np.clip(gap + rounding, 0, forced), first)

    def _coordinates(self, s: np.ndarray) -> np.ndarray:
        """Return coordinates y (n, k) of vectors s (n, r)."""
        return s @ self.basis.T / self.radius

    def _outputs(self, y: np.ndarray) -> np.ndarray:
        """Return vectors s (n, r) of length sqrt(r) with coordinates y."""
        s = y @ self.basis
        if len(self.unused):
            s += np.sqrt(np.maximum(1 - (y**2).sum(axis=1), 0))[:, None] * self.unused[0]
        return s * self.radius


def _starts(
    family: Family, centre: np.ndarray, given: np.ndarray | None, random: int
) -> Iterator[tuple[int, Callable[[np.ndarray], np.ndarray]]]:
    """Yield the number as in `OnEllipsoid.start`, and a function that gives the points where some positions begin."""
    yield 0, lambda some: lowest_of_quadratic(family, centre[some])
    yield 1, lambda some: scaled(centre[some])
    yield 2, lambda some: scaled(-centre[some])
    if given is not None:
        yield 3, lambda some: scaled(given[some])
    for point in scaled(np.random.default_rng(0).normal(size=(random, centre.shape[1]))):
        yield 4, partial(_everywhere, point)


def _everywhere(point: np.ndarray, some: np.ndarray) -> np.ndarray:
    return np.repeat(point[None], len(some), axis=0)
