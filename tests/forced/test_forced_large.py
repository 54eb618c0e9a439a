"""The way of large vocabularies agrees with the dense one, and proves what it says."""

import numpy as np
import pytest
from forced_truths import truths
from scipy.special import log_softmax, softmax

from oversmoothing.forced import large, projection
from oversmoothing.forced.large import NEGLIGIBLE, SHARE
from oversmoothing.forced.projection import project


def spectrum(rng, v, r):
    """Return a head whose first column is the logarithm of a frequency, and whose others decay."""
    weights = rng.normal(size=(v, r)) * np.arange(1, r + 1) ** -0.4
    weights[:, 0] = -0.8 * np.log(np.arange(1, v + 1))
    return weights


@pytest.fixture
def project_large(monkeypatch):
    """Project as for large vocabularies, and assert that the bracket holds what the dense way found."""

    def projected(*arguments, rounding=1e-12, **more):
        dense = project(*arguments, **more)
        monkeypatch.setattr(projection, "LARGEST_DENSE", 0)
        nearest = project(*arguments, **more)
        assert (nearest.forced >= dense.forced - dense.gap - rounding).all()
        assert (nearest.forced - nearest.gap <= dense.forced + rounding).all()
        return dense, nearest

    return projected


def assert_proved(nearest):
    assert (nearest.gap <= np.maximum(SHARE * nearest.forced, NEGLIGIBLE)).all()


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
@pytest.mark.parametrize(("v", "r"), [(200, 5), (1500, 40)])
def test_both_ways_agree(project_large, v, r, scale):
    rng = np.random.default_rng(r)
    wide = spectrum(rng, v, 2 * r)
    hidden = rng.normal(size=(8, 2 * r)) * scale
    hidden[:, 0] = 1
    assert_proved(project_large(wide[:, :r], softmax(hidden @ wide.T, axis=1))[1])


def test_with_a_bias_a_start_and_dependent_columns(project_large):
    rng = np.random.default_rng(1)
    weights, bias = spectrum(rng, 300, 6), rng.normal(size=300)
    weights = np.column_stack([weights, weights @ rng.normal(size=(6, 3))])
    start = log_softmax(bias + np.zeros((5, 300)), axis=1)
    _, nearest = project_large(weights, truths(rng, 5, 300), bias, start=start)
    assert_proved(nearest)
    np.testing.assert_allclose(log_softmax(bias + nearest.hidden @ weights.T, axis=1), nearest.log_q, atol=1e-9)


def test_truths_that_are_nearly_certain(project_large):
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.full(400, 0.1), size=12) * np.logspace(-12, -1, 12)[:, None]
    p[range(12), rng.integers(0, 400, 12)] += 1 - p.sum(axis=1)
    dense, nearest = project_large(3 * rng.normal(size=(400, 12)), p, rounding=1e-10)
    assert (nearest.forced <= dense.forced + np.maximum(nearest.gap, 1e-8)).all()


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_the_proof_holds_where_the_steps_end_before_it_has_converged(project_large, monkeypatch, steps):
    rng = np.random.default_rng(3)
    wide = spectrum(rng, 400, 24)
    p = softmax(3 * rng.normal(size=(20, 24)) @ wide.T, axis=1)
    monkeypatch.setattr(large, "STEPS", steps)
    project_large(wide[:, :12], p, start=np.full((20, 400), -np.log(400)))
