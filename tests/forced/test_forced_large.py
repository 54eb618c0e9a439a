"""The way of large vocabularies agrees with the dense one, and proves what it says."""

import numpy as np
import pytest
from forced_truths import assert_bracket_holds, by_scipy, near_an_edge, spectrum, to_sixty_digits, truths
from scipy.special import log_softmax, softmax

from oversmoothing.forced import large, projection
from oversmoothing.forced.head import prepare
from oversmoothing.forced.large import CLOSE, NEGLIGIBLE, SHARE, logarithmic_means, project_one, sample
from oversmoothing.forced.projection import project


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


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_a_mixture_with_few_tokens_is_as_near_as_the_optimum_of_scipy(share):
    rng = np.random.default_rng(4)
    head = prepare(spectrum(rng, 3000, 30))
    log_q = log_softmax(head.columns @ rng.normal(size=30) * 40)
    p = (1 - share) * np.exp(log_q)
    p[rng.choice(3000, 40, replace=False)] += share * rng.dirichlet(np.full(40, 0.5))
    theta, found, gap = project_one(head, p, head.coordinates(log_q), 1e-15)
    forced = float(p @ (np.log(p) - found))
    assert gap <= min(CLOSE, SHARE * forced)
    assert -1e-9 <= forced - by_scipy(head.columns, p) <= gap + 1e-9
    np.testing.assert_allclose(found, log_softmax(head.columns @ theta), atol=1e-9)


@pytest.mark.parametrize("eta", [3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5])
@pytest.mark.parametrize("rare", [1e-6, 1e-8, 1e-10])
def test_near_an_edge_no_interval_excludes_the_right_value(monkeypatch, rare, eta):
    monkeypatch.setattr(projection, "LARGEST_DENSE", 0)
    p = np.array([[0.5 - rare, 0.5 - rare, rare, rare]])
    nearest = project(near_an_edge(eta), p)
    assert_bracket_holds(nearest, to_sixty_digits(near_an_edge(eta), p[0]))
    assert nearest.gap[0] <= CLOSE


def test_moments_that_are_missed_prove_nothing():
    """Near the edge the factor in float32 knows nothing of the distance to the third row."""
    head, rare = prepare(near_an_edge(1e-4)), 1e-10
    p = np.array([0.5 - rare, 0.5 - rare, rare, rare])
    _, log_q, gap = project_one(head, p, np.zeros(2), 1e-15)
    assert gap == pytest.approx(float(p @ (np.log(p) - log_q)))


def test_a_sample_that_fits_badly_grows(monkeypatch):
    rng = np.random.default_rng(5)
    head, p = prepare(spectrum(rng, 2000, 20)), truths(rng, 1, 2000)[0]
    monkeypatch.setattr(large, "SAMPLED", 1)
    sizes = []
    monkeypatch.setattr(large, "sample", lambda weights, size: sizes.append(size) or sample(weights, size))
    _, log_q, gap = project_one(head, p, np.zeros(20), 1e-15)
    assert sizes[0] == 20
    assert sizes == sorted(sizes)
    assert 20 < sizes[-1] < 4000
    assert 0 <= gap <= CLOSE
    assert -1e-9 <= float(p @ (np.log(p) - log_q)) - by_scipy(head.columns, p) <= gap + 1e-9


def test_a_sample_holds_the_largest_and_estimates_sums():
    weights = np.random.default_rng(6).dirichlet(np.full(5000, 0.3))
    tokens, sampled = sample(weights, 800)
    assert len(tokens) == len(np.unique(tokens)) <= 800
    largest = np.argsort(-weights)[:400]
    np.testing.assert_array_equal(np.sort(tokens[:400]), np.sort(largest))
    np.testing.assert_array_equal(sampled[:400], weights[tokens[:400]])
    assert sampled.sum() == pytest.approx(1, rel=0.01)
    assert (sampled <= 2 * weights[tokens] * 4600 / 400 * 1.01).all()  # half of the rest are drawn evenly
    assert sampled @ (tokens % 7) == pytest.approx(weights @ (np.arange(5000) % 7), rel=0.02)


def test_logarithmic_means_by_hand():
    p, q = np.array([0.5, 0.0, 0.25, 0.25]), np.array([0.25, 0.25, 0.25, 0.25 * (1 + 1e-5)])
    means = logarithmic_means(p, np.log(q))
    np.testing.assert_allclose(means, [0.25 / np.log(2), 0, 0.25, 0.25 * (1 + 5e-6)], rtol=1e-9)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_large_head_is_prepared_by_its_scatter_in_the_same_family(monkeypatch, kind):
    rng = np.random.default_rng(11)
    weights = (spectrum(rng, 300, 6) + 5).astype(kind)
    weights[200] = weights[3]
    whole = prepare(weights)
    monkeypatch.setattr("oversmoothing.forced.head.LARGE", 0)
    monkeypatch.setattr("oversmoothing.forced.head.BLOCK", 64)
    head = prepare(weights)
    np.testing.assert_allclose(head.columns.T @ head.columns, np.eye(6), atol=1e-9)
    np.testing.assert_allclose(head.columns @ (head.columns.T @ whole.columns), whole.columns, atol=1e-9)
    theta = rng.normal(size=(4, 6))
    np.testing.assert_allclose(
        log_softmax(theta @ head.back @ weights.T, axis=1), log_softmax(theta @ head.columns.T, axis=1), atol=1e-9
    )
    assert (head.columns[200] == head.columns[3]).all()


def test_a_large_head_with_dependent_columns_is_decomposed(monkeypatch):
    rng = np.random.default_rng(12)
    weights = spectrum(rng, 300, 6)
    weights = np.column_stack([weights, weights @ rng.normal(size=(6, 3))])
    whole = prepare(weights)
    monkeypatch.setattr("oversmoothing.forced.head.LARGE", 0)
    np.testing.assert_array_equal(prepare(weights).columns, whole.columns)
