"""Behind a norm: two points and a circle by hand, a sphere searched globally, and what the proofs say."""

import numpy as np
import pytest
import torch
from forced_truths import assert_bracket_holds, truths
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from oversmoothing.forced import projection, sphere
from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.ellipsoid import project_on_ellipsoid
from oversmoothing.forced.projection import project
from oversmoothing.numerics.layer_norm import behind_norm


def on_sphere(rng, n, r, centred=True):
    s = rng.normal(size=(n, r))
    s -= s.mean(axis=1, keepdims=True) * centred
    return s / np.linalg.norm(s, axis=1, keepdims=True) * np.sqrt(r)


def circle_of(points):
    angles = 2 * np.pi * np.arange(points) / points
    across = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    return np.sqrt(3) * np.column_stack([np.cos(angles), np.sin(angles)]) @ across


def smallest(p, log_q):
    """Smallest KL of each row of p to a set of distributions."""
    return np.array([(row * np.log(row)).sum() - (log_q @ row).max() for row in p])


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
    both = [log_softmax(bias + sign * np.array([0.5, -4, 0.5 - 2])) for sign in (1, -1)]  # h = +-(0.5, -2)
    by_hand = np.array([divergence(p, np.tile(log_q, (3, 1))) for log_q in both])
    nearest = project_on_ellipsoid(weights, gain, p, bias)
    np.testing.assert_allclose(nearest.forced, by_hand.min(axis=0), rtol=1e-12)
    assert set(by_hand.argmin(axis=0)) == {0, 1}
    np.testing.assert_allclose(nearest.hidden, np.where(by_hand.argmin(axis=0), -1, 1)[:, None] * [0.5, -2])


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
def test_at_rank_three_no_point_of_the_circle_is_nearer(scale):
    rng = np.random.default_rng(0)
    weights, gain, bias = rng.normal(size=(12, 3)) * scale, rng.uniform(0.5, 2, 3), rng.normal(size=12)
    p = truths(rng, 60, 12, 1)
    lowest = smallest(p, log_softmax(bias + circle_of(20_000) * gain @ weights.T, axis=1))
    nearest = project_on_ellipsoid(weights, gain, p, bias)
    assert (nearest.forced <= lowest + 1e-12).all()
    assert_bracket_holds(nearest, lowest, 1e-6 * scale**2)


def test_at_rank_four_a_global_search_comes_no_lower():
    rng = np.random.default_rng(1)
    weights, gain, wide = head_like_a_model(rng, 256, 4)
    p = truths_of(rng, wide, 120)
    nearest, free = project_on_ellipsoid(weights, gain, p), project(behind_norm(weights, gain), p)
    lowest = global_search(weights, gain, p)
    np.testing.assert_allclose(nearest.forced, lowest, atol=1e-8)
    inside = (free.hidden**2).sum(axis=1) < 4
    assert 20 < inside.sum() < 100
    assert (nearest.gap[~inside] <= 1e-9).all()  # there it is proved


@pytest.mark.parametrize(("v", "r", "centres"), [(6, 2, True), (40, 4, True), (256, 32, True), (60, 8, False)])
def test_a_truth_that_the_norm_gives_is_forced_by_nothing(v, r, centres):
    rng = np.random.default_rng(2)
    weights, gain, bias = rng.normal(size=(v, r)), rng.uniform(0.5, 2, r), rng.normal(size=v)
    s = on_sphere(rng, 40, r, centres)
    p = np.exp(log_softmax(bias + s * gain @ weights.T, axis=1))
    nearest = project_on_ellipsoid(weights, gain, p, bias, centres=centres)
    assert nearest.forced.max() < 1e-10
    np.testing.assert_allclose(nearest.hidden, s * gain, atol=1e-5)


def test_where_the_free_minimum_lies_on_the_sphere_norm_and_head_force_what_the_head_does():
    rng = np.random.default_rng(3)
    weights, gain = rng.normal(size=(60, 5)) / 4, rng.uniform(0.5, 2, 5)
    q = np.exp(log_softmax(on_sphere(rng, 30, 5) * gain @ weights.T, axis=1))
    away = rng.normal(size=q.shape)
    keeps = np.column_stack([weights, np.ones(60)])  # a change across these alters no moment and no sum
    away -= away @ keeps @ np.linalg.pinv(keeps)
    p = q + away * (0.9 * np.where(away < 0, -q / away, np.inf).min(axis=1, keepdims=True))
    nearest, free = project_on_ellipsoid(weights, gain, p), project(behind_norm(weights, gain), p)
    assert (free.forced > 1e-5).all()
    np.testing.assert_allclose(nearest.forced, free.forced, rtol=1e-9)
    np.testing.assert_allclose(nearest.log_q, np.log(q), atol=1e-6)
    assert nearest.gap.max() < 1e-9


@pytest.mark.parametrize(("v", "r", "scale"), [(30, 3, 1), (100, 8, 0.3), (100, 8, 2), (256, 32, 1)])
def test_it_lies_on_the_ellipsoid_and_never_below_the_free_minimum(v, r, scale):
    rng = np.random.default_rng(4)
    weights, gain, bias = rng.normal(size=(v, r)) * scale, rng.uniform(-1, 2, r), rng.normal(size=v)
    p = truths(rng, 40, v)
    nearest, free = project_on_ellipsoid(weights, gain, p, bias), project(behind_norm(weights, gain), p, bias)
    assert (nearest.forced >= free.forced - free.gap - 1e-12).all()
    assert (nearest.forced - nearest.gap >= free.forced - free.gap - 1e-12).all()
    s = nearest.hidden / gain
    np.testing.assert_allclose(s.sum(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose((s**2).sum(axis=1), r, rtol=1e-12)
    given = log_softmax(bias + nearest.hidden @ weights.T, axis=1)
    np.testing.assert_allclose(given, nearest.log_q, atol=1e-9)
    np.testing.assert_allclose(divergence(p, given), nearest.forced, atol=1e-9)


def test_no_output_of_a_layer_norm_is_nearer():
    """Of PyTorch's, whose epsilon lets an input that is nearly constant reach the inside of the ellipsoid."""
    rng = np.random.default_rng(5)
    v, r = 20, 3
    weights, p = rng.normal(size=(v, r)), truths(rng, 4, v, 0.2)
    layer = torch.nn.LayerNorm(r, bias=False, dtype=torch.float64)
    layer.weight.data = torch.tensor(rng.uniform(0.5, 2, r))
    gain = layer.weight.detach().numpy()
    nearest, free = project_on_ellipsoid(weights, gain, p), project(behind_norm(weights, gain), p)
    assert ((free.hidden**2).sum(axis=1) < r).all()
    inputs = torch.tensor(rng.normal(size=(20_000, r)))
    outside, inside = (
        smallest(p, log_softmax(layer(inputs * size).detach().numpy() @ weights.T, axis=1)) for size in (1e3, 1e-3)
    )
    assert (outside >= nearest.forced - 1e-7).all()
    np.testing.assert_allclose(outside, nearest.forced, atol=1e-3)
    assert (inside < nearest.forced - 1e-3).all()
    assert (inside >= free.forced - 1e-12).all()


def test_several_starts_find_the_lowest_of_several_minima():
    """Steep heads and truths that they miss by far: at one in five another start ends lower."""
    rng = np.random.default_rng(0)
    weights, gain, p = 2 * rng.normal(size=(30, 4)), rng.uniform(0.5, 2, 4), truths(rng, 60, 30, 1.5)
    nearest, lowest = project_on_ellipsoid(weights, gain, p), global_search(weights, gain, p)
    assert set(nearest.start) <= set(range(5))
    assert (nearest.start > 0).sum() > 5
    np.testing.assert_allclose(nearest.forced, lowest, atol=1e-8)


def test_of_two_minima_the_lower_one_is_taken():
    """A valley along the first axis: its floor leaves the circle at two ends, of which the further one is higher."""
    across = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    weights = np.array([[1.0, 0], [-1, 0], [0, 4], [0, -4]]) @ across
    p = np.array([[0.3, 0.2, 0.25, 0.25], [0.2, 0.3, 0.25, 0.25]])
    wrong = log_softmax(np.sqrt(3) * np.array([[-1.0], [1.0]]) * across[0] @ weights.T, axis=1)
    nearest = project_on_ellipsoid(weights, np.ones(3), p, start=wrong)
    lowest = smallest(p, log_softmax(circle_of(100_000) @ weights.T, axis=1))
    np.testing.assert_allclose(nearest.forced, lowest, atol=1e-7)
    assert (divergence(p, wrong) > np.array(lowest) + 0.1).all()
    assert (nearest.gap > 0.01).all()  # nothing proves that there is no lower point


def test_rotations_gains_and_permutations_change_nothing():
    rng = np.random.default_rng(8)
    weights, gain, p = rng.normal(size=(40, 5)), rng.uniform(0.5, 2, 5), truths(rng, 20, 40, 1)
    expected = project_on_ellipsoid(weights, gain, p).forced
    plane = np.linalg.svd(np.ones((1, 5)))[2][1:]
    turned = plane.T @ np.linalg.qr(rng.normal(size=(4, 4)))[0] @ plane
    mixed = rng.permutation(5)
    for head, its_gain in (
        (behind_norm(weights, gain) @ turned, np.ones(5)),  # a rotation of what leaves the norm
        (weights / 7, gain * 7),
        (weights * gain, np.ones(5)),
        (-weights, gain),
        (weights[:, mixed], gain[mixed]),
    ):
        np.testing.assert_allclose(project_on_ellipsoid(head, its_gain, p).forced, expected, rtol=1e-8)
    assert (abs(project_on_ellipsoid(weights, 2 * gain, p).forced - expected) > 1e-3).any()  # a radius counts


def test_a_direction_that_gives_nothing_lets_the_norm_reach_inside():
    rng = np.random.default_rng(9)
    weights = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 9)) / 3
    gain, p = np.ones(9), np.concatenate([truths(rng, 20, 30, 0.3), truths(rng, 20, 30, 5)])
    nearest, free = project_on_ellipsoid(weights, gain, p), project(behind_norm(weights, gain), p)
    inside = (free.hidden**2).sum(axis=1) < 9
    assert 5 < inside.sum() < 35
    np.testing.assert_array_equal(nearest.forced[inside], free.forced[inside])
    assert (nearest.start[inside] == -1).all()
    assert (nearest.forced[~inside] > free.forced[~inside]).all()
    assert nearest.gap.max() < 1e-9
    np.testing.assert_allclose((nearest.hidden**2).sum(axis=1), 9)
    np.testing.assert_allclose(log_softmax(nearest.hidden @ weights.T, axis=1), nearest.log_q, atol=1e-8)


def test_at_rank_one_only_the_bias_is_left():
    p = np.array([[0.5, 0.25, 0.25]])
    nearest = project_on_ellipsoid(np.array([[1.0], [2], [3]]), np.array([2.0]), p, np.log([0.25, 0.25, 0.5]))
    assert nearest.forced[0] == pytest.approx(0.5 * np.log(2) - 0.25 * np.log(2))
    assert nearest.hidden.tolist() == [[0]]


@pytest.mark.parametrize("missing", [1e-3, 1e-12, 1e-300, 0])
def test_truths_that_are_nearly_certain(missing):
    rng = np.random.default_rng(12)
    weights, gain = rng.normal(size=(50, 4)) * 2, np.ones(4)
    p = np.full((20, 50), missing / 49)
    p[range(20), range(20)] = 1 - missing
    nearest = project_on_ellipsoid(weights, gain, p)
    assert np.isfinite(nearest.forced).all()
    np.testing.assert_allclose(nearest.forced, global_search(weights, gain, p), atol=1e-8)


def test_a_uniform_truth_and_a_symmetric_head():
    """The free minimum is the centre, from which no direction of the sphere is marked out."""
    weights, p = np.vstack([np.eye(3), -np.eye(3)]), np.full((1, 6), 1 / 6)
    lowest = smallest(p, log_softmax(circle_of(6000) @ weights.T, axis=1))
    assert project_on_ellipsoid(weights, np.ones(3), p).forced == pytest.approx(lowest, rel=1e-6)


@pytest.mark.parametrize(
    ("gain", "p", "message"), [(np.ones(2), [[0.5, 0.5]], "gain"), (np.ones(3), [[0.5, 0.1]], "row 0")]
)
def test_what_is_no_gain_or_no_distribution(gain, p, message):
    with pytest.raises(ValueError, match=message):
        project_on_ellipsoid(np.eye(3)[:2], gain, np.array(p))


@pytest.mark.parametrize("gain", [0.3, 2.0])
def test_two_points_and_a_circle_by_hand(gain):
    """Of one dimension it leaves 1 and -1; on the circle of this cross the four points (+-1, +-1) are lowest."""
    for weights in (np.array([[1.0], [-1]]), np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])):
        v, r = weights.shape
        nearest = project_on_ellipsoid(weights, np.full(r, gain), np.full((1, v), 1 / v), centres=False)
        np.testing.assert_allclose(nearest.forced, np.log(np.cosh(gain)), rtol=1e-7)
        np.testing.assert_allclose(abs(nearest.hidden), gain, atol=1e-4)
        np.testing.assert_allclose(nearest.gap, nearest.forced, atol=1e-12)  # the free minimum forces nothing


def test_a_truth_that_asks_for_more_than_the_radius_by_hand():
    """The head gives a coin of any odds, of which the norm leaves gain and -gain: the nearer one, and it is proved."""
    p = np.array([[0.999, 0.001], [0.2, 0.8]])
    nearest = project_on_ellipsoid(np.array([[0.5], [-0.5]]), np.array([0.7]), p, centres=False)
    q = 1 / (1 + np.exp(-0.7))
    by_hand = (p * np.log(p / [[q, 1 - q], [1 - q, q]])).sum(axis=1)
    np.testing.assert_allclose(nearest.forced, by_hand, rtol=1e-12)
    np.testing.assert_allclose(nearest.hidden, [[0.7], [-0.7]])
    assert (nearest.gap < 1e-9).all()


def test_scipy_with_the_sphere_as_constraint_comes_no_lower():
    rng = np.random.default_rng(0)
    v, r = 40, 6
    weights, gain, bias = rng.normal(size=(v, r)), rng.uniform(-1, 1.5, r), rng.normal(size=v)
    p = np.concatenate([truths(rng, 4, v, 0.5), truths(rng, 4, v, 4)])
    nearest = project_on_ellipsoid(weights, gain, p, bias, centres=False)
    inside = (project(weights * gain, p, bias).hidden ** 2).sum(axis=1) < r
    assert 1 < inside.sum() < 7
    for row, found, gap in zip(p, nearest.forced, nearest.gap, strict=True):

        def value(s, row=row):
            log_q = log_softmax(bias + weights @ (gain * s))
            return float(row @ (np.log(row) - log_q)), gain * (weights.T @ (np.exp(log_q) - row))

        sphere_alone = {"type": "eq", "fun": lambda s: s @ s - r, "jac": lambda s: 2 * s}
        more = {"constraints": [sphere_alone], "options": {"ftol": 1e-13, "maxiter": 500}}
        ends = [minimize(value, s, jac=True, method="SLSQP", **more) for s in on_sphere(rng, 8, r, False)]
        lowest = min(end.fun for end in ends if abs(end.x @ end.x - r) < 1e-6)
        assert found == pytest.approx(lowest, abs=1e-6)
        assert found - gap <= lowest + 1e-6
    assert (nearest.gap[~inside] < 1e-7).all()  # there it is proved


@pytest.mark.parametrize("scale", [0.3, 1.5])
def test_the_way_of_large_vocabularies_finds_the_same(monkeypatch, scale):
    """The Hessian is estimated from an eighth of the tokens, of a head whose first column is a log frequency."""
    rng = np.random.default_rng(4)
    v, r = 2000, 30
    weights = rng.normal(size=(v, r)) * np.arange(1, r + 1) ** -0.4
    weights[:, 0] = -0.8 * np.log(np.arange(1, v + 1))
    gain = rng.uniform(0.5, 1.5, r)
    log_q = log_softmax(on_sphere(rng, 6, r, False) * scale * gain @ weights.T, axis=1)
    p = 0.9 * np.exp(log_q) + 0.1 * rng.dirichlet(np.full(v, 0.05), size=6)
    dense = project_on_ellipsoid(weights, gain, p, start=log_q, centres=False)
    for module in (projection, sphere):
        monkeypatch.setattr(module, "LARGEST_DENSE", 0)
    large = project_on_ellipsoid(weights, gain, p, start=log_q, centres=False)
    np.testing.assert_allclose(large.forced, dense.forced, atol=1e-7)
    assert_bracket_holds(large, dense.forced, 1e-9)
    assert (large.gap <= dense.gap + 1e-5).all()
    np.testing.assert_allclose(divergence(p, log_softmax(large.hidden @ weights.T, axis=1)), large.forced, atol=1e-9)
