"""Lewis weights and the theorem about them, against one linear program per token."""

import numpy as np
import pytest
from heads import KINDS, draw

from oversmoothing.bat.basis import prepare
from oversmoothing.bat.large.lewis import lewis_metric
from oversmoothing.bat.linear_programs import reject_set_by_linear_programs


def columns(weights, p):
    return (p[:, None] * prepare(weights).columns).T


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_the_lengths_in_their_own_metric_and_sum_to_the_rank(kind):
    weights, p = draw(kind, 150, 10, 0)
    metric = lewis_metric(columns(weights, p[0]), steps=60)
    np.testing.assert_allclose(metric.lengths, metric.weights, rtol=1e-7)
    assert metric.weights.sum() == pytest.approx(len(metric.rows), rel=1e-7)
    assert len(metric.rows) == prepare(weights).columns.shape[1]
    np.testing.assert_allclose(
        (metric.whitened / metric.weights) @ metric.whitened.T, np.eye(len(metric.rows)), atol=1e-9
    )
    np.testing.assert_allclose(metric.factor @ metric.whitened, columns(weights, p[0])[metric.rows], atol=1e-12)


@pytest.mark.parametrize("bound", [1.05, 1.25, 2.0, 3.0])
@pytest.mark.parametrize("kind", KINDS)
def test_a_light_token_is_rejected_as_linear_programs_say(kind, bound):
    """The theorem: w_i <= min(1/2, 1 - 1/E) implies that BAT rejects token i."""
    light = 0
    for seed in range(3):
        weights, p = draw(kind, 60, 5, seed)
        theirs = reject_set_by_linear_programs(weights, p[0], np.log(bound))
        is_light = lewis_metric(columns(weights, p[0]), 60).weights <= min(0.5, 1 - 1 / bound) * (1 - 1e-9)
        assert theirs[is_light].all()
        light += is_light.sum()
    assert light or bound < 1.1


@pytest.mark.parametrize("scale", [1e-6, 1e-12, 1e-30])
def test_masses_of_many_orders_of_magnitude_keep_a_metric_or_admit_its_errors(scale):
    """The errors that a metric states are those it has."""
    generator = np.random.default_rng(3)
    a = generator.normal(size=(8, 120)) * np.r_[np.ones(4), np.full(116, scale)]
    metric = lewis_metric(a, 10)
    unit = (metric.whitened / metric.weights) @ metric.whitened.T
    assert np.linalg.norm(unit - np.eye(len(unit))) <= metric.skew + 1e-12
    assert np.linalg.norm(a[metric.rows] - metric.factor @ metric.whitened) <= 1e-12 * np.linalg.norm(a)
    if scale > 1e-15:
        assert metric.weights.sum() == pytest.approx(8, rel=0.05)
        assert metric.repair(metric.residuals(np.ones((120, 1)), -metric.whitened.sum(axis=1)[:, None]), 0.5)[0] < 1e-2


def test_constraints_that_others_imply_are_dropped():
    generator = np.random.default_rng(4)
    a = generator.normal(size=(3, 50))
    a = np.concatenate([a, a[:1] + a[1:2]])
    metric = lewis_metric(a)
    assert len(metric.rows) == 3
    assert metric.weights.sum() == pytest.approx(3, rel=0.05)
    y = generator.normal(size=(3, 2))
    np.testing.assert_allclose(a.T @ metric.lift(y), metric.whitened.T @ y, atol=1e-9)
