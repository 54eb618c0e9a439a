"""Behind an RMSNorm: two cases by hand, SciPy with the sphere as its constraint, and the way of large vocabularies."""

import numpy as np
import pytest
import torch
from forced_truths import assert_bracket_holds, truths
from scipy.optimize import NonlinearConstraint, minimize
from scipy.special import log_softmax, softmax

from oversmoothing.forced import projection, sphere
from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.ellipsoid import project_on_ellipsoid
from oversmoothing.forced.projection import project


def on_sphere(rng, n, r):
    s = rng.normal(size=(n, r))
    return s / np.linalg.norm(s, axis=1, keepdims=True) * np.sqrt(r)


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


@pytest.mark.parametrize("method", ["trust-constr", "SLSQP"])
def test_scipy_with_the_sphere_as_constraint_comes_no_lower(method):
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

        length = {"fun": lambda s: s @ s - r, "jac": lambda s: 2 * s}
        if method == "SLSQP":
            more = {"constraints": [{"type": "eq", **length}], "options": {"ftol": 1e-13, "maxiter": 500}}
        else:
            constraint = NonlinearConstraint(
                length["fun"], 0, 0, jac=length["jac"], hess=lambda _, m: 2 * m[0] * np.eye(r)
            )
            more = {"constraints": [constraint], "options": {"gtol": 1e-9, "maxiter": 1000}}
        ends = [minimize(value, s, jac=True, method=method, **more) for s in on_sphere(rng, 8, r)]
        lowest = min(end.fun for end in ends if abs(end.x @ end.x - r) < 1e-6)
        assert found == pytest.approx(lowest, abs=1e-6)
        assert found - gap <= lowest + 1e-6
    assert (nearest.gap[~inside] < 1e-7).all()  # there it is proved


def test_no_output_of_an_rms_norm_is_nearer_and_one_is_as_near():
    rng = np.random.default_rng(1)
    layer = torch.nn.RMSNorm(2, eps=1e-12, dtype=torch.float64)
    layer.weight.data = torch.tensor([0.5, 1.5], dtype=torch.float64)
    weights, p = rng.normal(size=(12, 2)), truths(rng, 20, 12, 1)
    angles = 2 * np.pi * np.arange(20_000) / 20_000
    outputs = layer(torch.tensor(np.column_stack([np.cos(angles), np.sin(angles)]))).detach().numpy()
    given = log_softmax(outputs @ weights.T, axis=1)
    lowest = (p * np.log(p)).sum(axis=1) - (p @ given.T).max(axis=1)
    nearest = project_on_ellipsoid(weights, layer.weight.detach().numpy(), p, centres=False)
    assert (nearest.forced <= lowest + 1e-12).all()
    np.testing.assert_allclose(nearest.forced, lowest, atol=1e-6)
    assert_bracket_holds(nearest, lowest, 1e-6)


def test_a_truth_that_the_norm_gives_is_forced_by_nothing():
    rng = np.random.default_rng(2)
    weights, gain, bias = rng.normal(size=(60, 8)), rng.uniform(0.5, 2, 8), rng.normal(size=60)
    s = on_sphere(rng, 30, 8)
    nearest = project_on_ellipsoid(weights, gain, softmax(bias + s * gain @ weights.T, axis=1), bias, centres=False)
    assert nearest.forced.max() < 1e-10
    np.testing.assert_allclose(nearest.hidden, s * gain, atol=1e-5)


def test_a_layer_norm_forces_more_than_an_rms_norm():
    """Its sphere is a part of the other's, so no distribution of it may be nearer."""
    rng = np.random.default_rng(3)
    weights, gain, p = rng.normal(size=(50, 5)), rng.uniform(0.5, 2, 5), truths(rng, 30, 50, 2)
    rms, layer = (project_on_ellipsoid(weights, gain, p, centres=centres).forced for centres in (False, True))
    assert (rms <= layer + 1e-9).all()
    assert (rms < layer - 1e-3).any()


@pytest.mark.parametrize("scale", [0.3, 1.5])
def test_the_way_of_large_vocabularies_finds_the_same(monkeypatch, scale):
    """The Hessian is estimated from an eighth of the tokens, of a head whose first column is a log frequency."""
    rng = np.random.default_rng(4)
    v, r = 2000, 30
    weights = rng.normal(size=(v, r)) * np.arange(1, r + 1) ** -0.4
    weights[:, 0] = -0.8 * np.log(np.arange(1, v + 1))
    gain = rng.uniform(0.5, 1.5, r)
    log_q = log_softmax(on_sphere(rng, 6, r) * scale * gain @ weights.T, axis=1)
    p = 0.9 * np.exp(log_q) + 0.1 * rng.dirichlet(np.full(v, 0.05), size=6)
    dense = project_on_ellipsoid(weights, gain, p, start=log_q, centres=False)
    for module in (projection, sphere):
        monkeypatch.setattr(module, "LARGEST_DENSE", 0)
    large = project_on_ellipsoid(weights, gain, p, start=log_q, centres=False)
    np.testing.assert_allclose(large.forced, dense.forced, atol=1e-7)
    assert_bracket_holds(large, dense.forced, 1e-9)
    assert (large.gap <= dense.gap + 1e-5).all()
    np.testing.assert_allclose(divergence(p, log_softmax(large.hidden @ weights.T, axis=1)), large.forced, atol=1e-9)


def test_a_gain_of_another_length():
    with pytest.raises(ValueError, match="gain"):
        project_on_ellipsoid(np.eye(3), np.ones(1), np.full((1, 3), 1 / 3), centres=False)
