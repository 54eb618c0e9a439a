"""Behind a LayerNorm: two points and a circle by hand, a sphere searched globally, and what the proofs say."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.ellipsoid import project_on_ellipsoid
from oversmoothing.forced.projection import project
from oversmoothing.spectra import behind_norm


def truths(rng, n, v, scale=2.0):
    return np.exp(log_softmax(rng.normal(size=(n, v)) * scale, axis=1))


def on_sphere(rng, n, r):
    s = rng.normal(size=(n, r))
    s -= s.mean(axis=1, keepdims=True)
    return s / np.linalg.norm(s, axis=1, keepdims=True) * np.sqrt(r)


def head_like_a_model(rng, v, r):
    """A head whose first column is about the logarithm of a frequency, its gain, and truths of a wider head."""
    wide = rng.normal(size=(v, 4 * r)) * np.tile(np.arange(1, r + 1) ** -0.4, 4)
    wide[:, 0] -= 1.2 * np.log(np.arange(1, v + 1))
    return wide[:, :r], rng.uniform(0.8, 1.2, r), wide


def truths_of(rng, wide, n):
    hidden = rng.normal(size=(n, wide.shape[1])) * rng.uniform(0.1, 2.5, size=(n, 1))
    hidden[:, 0] = 1
    return np.exp(log_softmax(hidden @ wide.T, axis=1))


def global_search(weights, gain, p, bias=0.0, points=20_000, refined=3):
    """Smallest KL over a rank-4 head's sphere: a spiral of points, and BFGS from the lowest ones that lie apart."""
    plane = np.linalg.svd(np.ones((1, 4)))[2][1:] * 2  # sum(s) = 0 and |s| = 2 for |x| = 1
    columns = weights * gain @ plane.T
    height = 1 - (2 * np.arange(points) + 1) / points
    angle = np.pi * (1 + 5**0.5) * np.arange(points)
    spiral = np.column_stack([np.sqrt(1 - height**2) * [np.cos(angle), np.sin(angle)][k] for k in (0, 1)] + [height])
    totals = np.concatenate([logsumexp(bias + some @ columns.T, axis=1) for some in np.array_split(spiral, 20)])
    best = []
    for row in p:
        with np.errstate(divide="ignore", invalid="ignore"):
            constant = np.where(row > 0, row * np.log(row), 0).sum() - (row * bias).sum()
        moment = row @ columns

        def value(x, moment=moment):
            size = np.linalg.norm(x)
            z = bias + columns @ (x / size)
            total = logsumexp(z)
            gradient = np.exp(z - total) @ columns - moment
            return total - moment @ (x / size), (gradient - (gradient @ x) * x / size**2) / size

        heights, lows = totals - spiral @ moment, []
        for x in spiral[np.argsort(heights)]:
            if all(x @ other < 0.9 for other in lows):
                lows.append(x)
            if len(lows) == refined:
                break
        ends = [minimize(value, x, jac=True, method="BFGS", options={"gtol": 1e-9}).fun for x in lows]
        best.append(min(ends) + constant)
    return np.array(best)


def test_at_rank_two_the_norm_gives_two_distributions():
    weights, gain, bias = np.array([[1.0, 0], [0, 2], [1, 1]]), np.array([0.5, 2]), np.array([0.1, 0, -0.2])
    p = np.array([[0.5, 0.2, 0.3], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    both = [
        log_softmax(bias + sign * np.array([0.5, -4, 0.5 - 2])) for sign in (1, -1)
    ]  # h = (0.5, -2) or the opposite
    by_hand = np.array([divergence(p, np.tile(log_q, (3, 1))) for log_q in both])
    nearest = project_on_ellipsoid(weights, gain, p, bias)
    np.testing.assert_allclose(nearest.forced, by_hand.min(axis=0), rtol=1e-12)
    assert set(by_hand.argmin(axis=0)) == {0, 1}
    np.testing.assert_allclose(nearest.hidden, np.where(by_hand.argmin(axis=0), -1, 1)[:, None] * [0.5, -2])


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
def test_at_rank_three_no_point_of_the_circle_is_nearer(scale):
    rng = np.random.default_rng(0)
    weights, gain, bias, p = (
        rng.normal(size=(12, 3)) * scale,
        rng.uniform(0.5, 2, 3),
        rng.normal(size=12),
        truths(rng, 60, 12, 1),
    )
    angles = np.linspace(0, 2 * np.pi, 40_001)
    across = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    circle = np.sqrt(3) * np.column_stack([np.cos(angles), np.sin(angles)]) @ across
    grid = log_softmax(bias + circle * gain @ weights.T, axis=1)
    lowest = np.array([divergence(row[None], grid).min() for row in p])
    nearest = project_on_ellipsoid(weights, gain, p, bias)
    assert (nearest.forced <= lowest + 1e-12).all()
    assert (nearest.forced >= lowest - 1e-5 * scale**2).all()
    assert (nearest.forced - nearest.gap <= lowest + 1e-12).all()


def test_at_rank_four_a_global_search_comes_no_lower():
    rng = np.random.default_rng(1)
    weights, gain, wide = head_like_a_model(rng, 256, 4)
    p = truths_of(rng, wide, 200)
    nearest, free = project_on_ellipsoid(weights, gain, p), project(behind_norm(weights, gain), p)
    lowest = global_search(weights, gain, p)
    np.testing.assert_allclose(nearest.forced, lowest, atol=1e-8)
    inside = (free.hidden**2).sum(axis=1) < 4
    assert 20 < inside.sum() < 180
    assert (nearest.gap[~inside] <= 1e-9).all()  # there it is proved
    assert (nearest.forced - nearest.gap <= lowest + 1e-9).all()
