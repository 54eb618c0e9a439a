"""The best head of a rank: planted heads, all heads of three tokens, bounds; over large vocabularies, common tokens."""

import numpy as np
import pytest
from forced_truths import by_scipy
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from oversmoothing.forced import best_head as library
from oversmoothing.forced import descent
from oversmoothing.forced.best_head import best_head, leading
from oversmoothing.forced.projection import project
from oversmoothing.forced.rare_tokens import common_mass, rows_of


def truths(seed, n, v, rank=None, scale=1.0):
    """Truths (n, v) of a random head of a rank, and the head."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(v, rank or v)) * scale
    return softmax(rng.normal(size=(n, weights.shape[1])) @ weights.T / np.sqrt(weights.shape[1]), axis=1), weights


def mean_forced(weights, p):
    return project(weights, p).forced.mean()


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_a_planted_head_is_found(rank):
    p, planted = truths(rank, 120, 40, rank, scale=2.0)
    best = best_head(p, rank)
    assert best.forced.max() < 1e-9
    other = softmax(np.random.default_rng(9).normal(size=(50, rank)) @ planted.T, axis=1)
    assert project(best.weights, other).forced.max() < 1e-7  # it gives what the planted one gives elsewhere
    if rank > 1:
        assert best_head(p, rank - 1).forced.mean() > 1e-3


@pytest.mark.parametrize("rank", [7, 8, 12])
def test_from_full_rank_on_exactly_nothing_is_forced(rank):
    p, _ = truths(6, 20, 8)
    best = best_head(p, rank)
    assert (best.forced == 0).all()
    assert (best.gap == 0).all()
    assert best_head(p, 6).forced.mean() > 0


@pytest.mark.parametrize("seed", range(2))
def test_one_column_against_all_heads_of_three_tokens(seed):
    """Up to scale and a constant, a head of one column is an angle."""
    p, _ = truths(seed, 25, 3, scale=2.0)
    plane = np.linalg.svd(np.ones((1, 3)))[2][1:].T
    angles = np.linspace(0, np.pi, 361)
    every = [mean_forced(plane @ [[np.cos(a)], [np.sin(a)]], p) for a in angles]
    forced = best_head(p, 1).forced.mean()
    assert forced == pytest.approx(min(every), rel=2e-3)
    assert forced <= min(every) + 1e-9


def test_alternating_minimisation_comes_no_lower():
    """The h exactly by projection, then W by multinomial logistic regression, in turns."""
    p, start = truths(20, 80, 15, scale=2.0)[0], np.random.default_rng(21).normal(size=(15, 2))
    weights = start
    for _ in range(40):
        hidden = project(weights, p).hidden

        def regression(x, hidden=hidden):
            log_q = log_softmax(hidden @ x.reshape(15, 2).T, axis=1)
            return -(p * log_q).sum(), ((np.exp(log_q) - p).T @ hidden).ravel()

        weights = minimize(regression, weights.ravel(), jac=True, method="L-BFGS-B").x.reshape(15, 2)
    alternated = mean_forced(weights, p)
    assert alternated < 0.8 * mean_forced(start, p)
    assert best_head(p, 2, start).forced.mean() <= alternated * 1.001


@pytest.mark.parametrize("blocks", [0, 1 << 25])
@pytest.mark.parametrize("seed", range(4))
def test_the_result_is_stationary_and_below_its_start(seed, blocks, monkeypatch):
    monkeypatch.setattr(descent, "BLOCKS", blocks)
    monkeypatch.setattr("oversmoothing.forced.best_head.ITERATIONS", 20)
    p, _ = truths(30 + seed, 60, 20, scale=2.0)
    start = np.random.default_rng(seed).normal(size=(20, 4))

    def gradient(weights):
        """By the envelope theorem, of the mean forced divergence, with white hidden vectors."""
        nearest = project(weights, p)
        hidden = nearest.hidden @ np.linalg.inv(np.linalg.cholesky(nearest.hidden.T @ nearest.hidden / len(p))).T
        return np.linalg.norm((np.exp(nearest.log_q) - p).T @ hidden / len(p))

    before = mean_forced(start, p)
    once, best = best_head(p, 4, start, rounds=1), best_head(p, 4, start, rounds=20)
    assert best.forced.mean() < once.forced.mean() - 1e-5 < before
    assert gradient(best.weights) < 0.05 * gradient(start)
    np.testing.assert_allclose(best.forced, project(best.weights, p).forced, atol=2e-9)
    assert (best.gap <= 1e-8).all()


def test_further_columns_never_force_more():
    p, _ = truths(40, 60, 20, scale=3.0)
    weights, before = None, np.inf
    for rank in (1, 2, 3, 5, 9, 18):
        unfitted = best_head(p, rank, weights, rounds=0)
        assert unfitted.forced.mean() <= before + 1e-9
        best = best_head(p, rank, weights, rounds=2)
        assert best.weights.shape == (20, rank)
        assert best.forced.mean() <= unfitted.forced.mean() + 1e-9
        weights, before = best.weights, best.forced.mean()


def test_steps_are_counted_and_results_repeat():
    p, _ = truths(61, 40, 10, scale=2.0)
    steps = []
    one = best_head(p, 2, step=lambda: steps.append(1))
    assert 5 < len(steps) <= 6 * 200
    np.testing.assert_array_equal(best_head(p, 2).weights, one.weights)


def test_what_cannot_be_fitted():
    p = np.full((2, 6), 1 / 6)
    for rank, start in ((0, None), (1, np.ones((6, 2)))):
        with pytest.raises(ValueError, match="rank"):
            best_head(p, rank, start)
    with pytest.raises(ValueError, match=r"row 1 has NaN, a negative value or the sum 0\.7"):
        best_head(np.array([[0.5, 0.5, 0], [0.5, 0.1, 0.1]]), 1)
    with pytest.raises(ValueError, match="6 tokens"):
        best_head(np.full((2, 5), 0.2), 2, np.ones((6, 2)))


def sharp_truths(kind, n, v):
    rng = np.random.default_rng(0)
    p = np.full((n, v), {"nearly one": 1e-12}.get(kind, 0.0))
    if kind == "beside smooth ones":
        return softmax(rng.normal(size=(n, v)) * np.where(np.arange(n) % 2, 1, 60)[:, None], axis=1)
    for row in p:
        row[rng.choice(v, 2 if kind == "ties" else 1, replace=False)] = 1
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("kind", "n", "v"), [("nearly one", 8, 10), ("one", 40, 30), ("ties", 8, 10), ("beside smooth ones", 8, 10)]
)
def test_of_sharp_truths_the_bracket_holds_what_scipy_finds(kind, n, v):
    p = sharp_truths(kind, n, v)
    best = best_head(p, 4)
    assert best.forced.mean() <= mean_forced(leading(p, 4), p) + 1e-9
    weights = best.weights / abs(best.weights).max()
    for row, forced, gap in zip(p, best.forced, best.gap, strict=True):
        other = by_scipy(weights, row)
        assert 0 <= gap <= forced
        assert other >= forced - gap - 1e-9
        assert gap > 1e-6 or forced <= other + 1e-6


@pytest.fixture
def large(monkeypatch):
    """Take vocabularies of more than 30 tokens for large, and 12 tokens for common."""
    monkeypatch.setattr(library, "LARGE", 30)
    monkeypatch.setattr(library, "COMMON", 12)


def test_rows_worked_by_hand():
    """At h = 1 and -1, f(w) = e^w + e^-w - (a - b) w is least where sinh w = (a - b) / 2."""
    p, hidden = np.array([[0.3, 0.02, 0.0], [0.1, 0.07, 0.0]]), np.array([[1.0], [-1.0]])
    rows = rows_of(p, np.array([0.4]), hidden, hidden[:, 0] * 0.4)
    np.testing.assert_allclose(rows[:, 0], np.arcsinh([0.1, -0.025, 0]), atol=1e-6)


@pytest.mark.parametrize("numbers", [1, 1 << 22])  # one row at a time, or all
def test_rows_are_those_that_scipy_finds(numbers, monkeypatch):
    monkeypatch.setattr("oversmoothing.forced.rare_tokens.NUMBERS", numbers)
    rng = np.random.default_rng(0)
    hidden, row, log_q = rng.normal(size=(40, 3)), rng.normal(size=3), np.log(rng.uniform(0.05, 0.2, 40))
    p = softmax(rng.normal(size=(40, 7)) * 2, axis=1) * rng.uniform(0.05, 0.2, (40, 1))
    level = log_q - hidden @ row
    for found, own in zip(rows_of(p, row, hidden, log_q), p.T, strict=True):

        def value(w, own=own):
            return np.exp(hidden @ w + level).sum() - own @ hidden @ w

        assert value(found) <= minimize(value, row, tol=1e-12).fun + 1e-4


def popular_truths(seed, rank, popular=2.0, n=120, v=60):
    """Truths of a head of a rank; one column gives some tokens more probability everywhere, as language does."""
    rng = np.random.default_rng(seed)
    hidden = np.column_stack([np.ones(n), rng.normal(size=(n, rank - 1)) * 2 / np.sqrt(rank)])
    return softmax(
        hidden @ np.column_stack([-popular * np.log1p(np.arange(v)), rng.normal(size=(v, rank - 1))]).T, axis=1
    )


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_head_is_found_from_common_tokens(seed):
    p = popular_truths(seed, 3)
    assert 0.999 > common_mass(p, 12) > library.MOST
    assert best_head(p, 3).forced.mean() < 1e-3 < 1e-2 < best_head(p, 2).forced.mean()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rank", [2, 5])
def test_it_comes_about_as_low_as_a_descent_over_all_tokens(seed, rank, request):
    p = popular_truths(seed, 60)
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
    p = popular_truths(0, 60, popular=0)
    over_all = best_head(p, 2)
    request.getfixturevalue("large")
    assert common_mass(p, 12) < library.MOST
    np.testing.assert_array_equal(best_head(p, 2).weights, over_all.weights)


def test_a_head_within_a_span_against_scipy():
    """Its columns are sums of given ones, whose weights scipy finds no better; without the limit it forces less."""
    p, planted = truths(70, 80, 30, 6, scale=2.0)
    found = best_head(p, 2, span=planted)
    centred, columns = planted - planted.mean(axis=0), found.weights - found.weights.mean(axis=0)
    off = columns - centred @ np.linalg.lstsq(centred, columns)[0]
    assert np.linalg.norm(off) < 1e-9 * np.linalg.norm(columns)
    assert best_head(p, 2).forced.mean() < found.forced.mean() - 1e-4
    assert best_head(p, 6, span=planted).forced.max() < 1e-9

    def objective(x):
        weights, hidden = planted @ x[:12].reshape(6, 2), x[12:].reshape(80, 2)
        log_q = log_softmax(hidden @ weights.T, axis=1)
        missed = np.exp(log_q) - p
        gradient = np.concatenate([(planted.T @ missed.T @ hidden).ravel(), (missed @ weights).ravel()])
        return (p * (np.log(p) - log_q)).sum() / 80, gradient / 80

    starts = np.random.default_rng(71).normal(size=(6, 12 + 160))
    options = {"maxiter": 5000, "maxfun": 10000, "ftol": 1e-12, "gtol": 1e-9}
    ends = [minimize(objective, x, jac=True, method="L-BFGS-B", options=options).fun for x in starts]
    assert found.forced.mean() == pytest.approx(min(ends), rel=5e-3)


def test_a_span_of_too_few_columns():
    with pytest.raises(ValueError, match="rank 3 must be at most 2"):
        best_head(np.full((4, 9), 1 / 9), 3, span=np.eye(9)[:, :2])
