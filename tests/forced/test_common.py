"""Heads over large vocabularies: rows of rare tokens by hand and by SciPy, and fits that begin with common tokens."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from oversmoothing.forced import best_head as library
from oversmoothing.forced.best_head import best_head
from oversmoothing.forced.common import common_mass, divided, rows_of
from oversmoothing.forced.projection import project


@pytest.fixture
def large(monkeypatch):
    """Take vocabularies of more than 30 tokens for large, and 12 tokens for common."""
    monkeypatch.setattr(library, "LARGE", 30)
    monkeypatch.setattr(library, "COMMON", 12)


def test_the_most_probable_tokens_and_the_sum_of_the_others():
    order, few = divided(np.array([[0.1, 0.5, 0.2, 0.2], [0.1, 0.3, 0.2, 0.4]]), 2)
    assert order.tolist() == [1, 3, 2, 0]
    np.testing.assert_allclose(few, [[0.5, 0.2, 0.3], [0.3, 0.4, 0.3]])


def test_rows_worked_by_hand():
    """At h = 1 and -1, f(w) = e^w + e^-w - (a - b) w is least where sinh w = (a - b) / 2."""
    p, hidden = np.array([[0.3, 0.02, 0.0], [0.1, 0.07, 0.0]]), np.array([[1.0], [-1.0]])
    rows = rows_of(p, np.array([0.4]), hidden, hidden[:, 0] * 0.4)
    np.testing.assert_allclose(rows[:, 0], np.arcsinh([0.1, -0.025, 0]), atol=1e-6)


@pytest.mark.parametrize("numbers", [1, 1 << 22])  # one row at a time, or all
def test_rows_are_those_that_scipy_finds(numbers, monkeypatch):
    monkeypatch.setattr("oversmoothing.forced.common.NUMBERS", numbers)
    rng = np.random.default_rng(0)
    hidden, row, log_q = rng.normal(size=(40, 3)), rng.normal(size=3), np.log(rng.uniform(0.05, 0.2, 40))
    p = softmax(rng.normal(size=(40, 7)) * 2, axis=1) * rng.uniform(0.05, 0.2, (40, 1))
    level = log_q - hidden @ row
    for found, own in zip(rows_of(p, row, hidden, log_q), p.T, strict=True):

        def value(w, own=own):
            return np.exp(hidden @ w + level).sum() - own @ hidden @ w

        assert value(found) <= minimize(value, row, tol=1e-12).fun + 1e-4


def truths(seed, rank, popular=2.0, n=120, v=60):
    """Truths of a head of a rank; one column gives some tokens more probability everywhere, as language does."""
    rng = np.random.default_rng(seed)
    hidden = np.column_stack([np.ones(n), rng.normal(size=(n, rank - 1)) * 2 / np.sqrt(rank)])
    return softmax(
        hidden @ np.column_stack([-popular * np.log1p(np.arange(v)), rng.normal(size=(v, rank - 1))]).T, axis=1
    )


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_head_is_found_from_common_tokens(seed):
    p = truths(seed, 3)
    assert 0.999 > common_mass(p, 12) > library.MOST
    assert best_head(p, 3).forced.mean() < 1e-3 < 1e-2 < best_head(p, 2).forced.mean()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rank", [2, 5])
def test_it_comes_about_as_low_as_a_descent_over_all_tokens(seed, rank, request):
    p = truths(seed, 60)
    over_all, steps = best_head(p, rank), []
    request.getfixturevalue("large")
    assert 0.999 > common_mass(p, 12) > library.MOST
    best = best_head(p, rank, step=lambda: steps.append(1))
    assert best.forced.mean() <= 1.05 * over_all.forced.mean()
    assert (best.weights != over_all.weights).all()
    np.testing.assert_allclose(best.forced, project(best.weights, p).forced, atol=2e-9)
    assert (best.gap <= 1e-8).all()
    assert len(steps) > 20
    further = best_head(p, rank + 1, best.weights)
    assert further.forced.mean() <= best.forced.mean() + 1e-9


def test_where_common_tokens_have_little_all_move_from_the_start(request):
    p = truths(0, 60, popular=0)
    over_all = best_head(p, 2)
    request.getfixturevalue("large")
    assert common_mass(p, 12) < library.MOST
    np.testing.assert_array_equal(best_head(p, 2).weights, over_all.weights)
