"""BAT-reject sets that are known without a program, by each of the three ways to compute them; and units."""

from types import SimpleNamespace

import numpy as np
import pytest
from methods import by_stages, by_tableau

from oversmoothing.bat import linear_programs
from oversmoothing.bat.linear_programs import reject_set_by_linear_programs as by_programs
from oversmoothing.bat.reject import DELTA


def head(v, d):
    return np.random.default_rng([v, d]).normal(size=(v, d))


def distribution(v):
    return np.random.default_rng(v).dirichlet(np.full(v, 0.5))


def with_twins(size):
    """A head and a distribution in which only 0 and 8, and 1 and 9, can exchange mass, up to a quarter at `DELTA`."""
    weights = head(8, 8)
    p = np.array([0.2 * size, 0.26 * size, *[0.1] * 6, size, size])
    p[2] += 1 - p.sum()
    return np.concatenate([weights, weights[:2]]), p


def only(v, *tokens):
    return np.where(np.isin(np.arange(v), tokens), 1 / len(tokens), 0.0)


LINE = np.array([[0.0], [1.0], [2.0]])  # mass of the middle moves to both ends evenly, mass of an end cannot leave
TWIN_ROWS = np.eye(5)[[0, 0, 1, 2, 3]]
SHARES = np.array([0.1, 0.41, 0.2, 0.19, 0.1])
RARE = np.array([0.15] * 6 + [0.1 - 1e-11 - 1e-14, 1e-11, 1e-14])
BY_HAND = {
    "a twin takes a quarter": (TWIN_ROWS, SHARES, DELTA, [0]),
    "a twin takes five times its own": (TWIN_ROWS, SHARES, np.log(6), [0, 1]),
    "twins": (*with_twins(0.1), DELTA, [0]),  # 0.2 <= 0.25, 0.26 > 0.25
    "rare twins": (*with_twins(1e-12), DELTA, [0]),
    "the middle of a line": (LINE, np.array([0.45, 0.1, 0.45]), DELTA, [1]),
    "a heavier middle": (LINE, np.array([0.7, 0.12, 0.18]), DELTA, []),  # an end would take 0.06, of 0.045
    "no mass": (head(6, 6), only(6, 0, 1), DELTA, [2, 3, 4, 5]),
    "one token has all": (head(60, 12), only(60, 3), DELTA, [i for i in range(60) if i != 3]),
    "one token there is": (np.ones((1, 3)), np.ones(1), DELTA, []),
    "full rank": (head(12, 12), distribution(12), DELTA, []),
    "more than full rank, and no mass": (head(64, 70), only(64, *range(54)), DELTA, [*range(54, 64)]),
    "full rank, far below the tolerance": (head(9, 9), RARE, DELTA, []),
    "as few tokens as constraints": (head(60, 12), only(60, *range(8)), DELTA, [*range(8, 60)]),
}


@pytest.fixture(params=[by_programs, by_tableau, by_stages])
def rejected(request):
    return request.param


@pytest.mark.parametrize("case", BY_HAND)
def test_sets_are_those_found_by_hand(rejected, case):
    weights, p, delta, expected = BY_HAND[case]
    assert np.flatnonzero(rejected(weights, p, delta)).tolist() == expected


@pytest.mark.parametrize("constant", [0.0, 3.7])
@pytest.mark.parametrize("bound", [1.05, 1.25, 2.0, 2.4, 2.6, np.e, 4.0])
def test_a_head_that_says_nothing_leaves_only_the_sum(rejected, bound, constant):
    """Token i is rejected just if the others can hold its mass, E (1 - p_i) >= 1."""
    several = np.array([0.3, 0.25, 0.19, 0.15, 0.06, 0.04, 0.01])
    close = [np.array([heavy, *[(1 - heavy) / 60] * 60]) for heavy in (1 - 1 / bound) * np.array([0.98, 1.02])]
    for p in (several, np.array([0.6, 0.4]), *close):
        expected = bound * (1 - p) >= 1
        np.testing.assert_array_equal(rejected(np.full((len(p), 2), constant), p, np.log(bound)), expected)


@pytest.mark.parametrize("weights", [np.zeros((32, 2)), head(32, 4)])
@pytest.mark.parametrize("way", [by_programs, by_tableau])
def test_nothing_may_grow_at_delta_zero(way, weights):
    assert not way(weights, distribution(32), 0.0).any()


@pytest.mark.parametrize(
    ("p", "delta", "message"),
    [
        ([0.5, 0.5], DELTA, r"p \(1, 2\) must be"),
        ([0.5, 0.6, -0.1], DELTA, "NaN, a negative value or the sum 1"),
        ([0.5, np.nan, 0.5], DELTA, "NaN"),
        ([0.5, 0.3, 0.2], -1.0, "delta -1.0"),
        ([0.5, 0.3, 0.2], np.nan, "delta nan"),
    ],
)
def test_what_is_no_distribution_or_no_delta_is_refused(p, delta, message):
    with pytest.raises(ValueError, match=message):
        by_tableau(np.zeros((3, 1)), np.array(p), delta)
    with pytest.raises(ValueError, match=message):
        by_programs(np.zeros((3, 1)), np.array(p), delta)


def test_the_set_does_not_depend_on_the_units_of_the_head():
    generator = np.random.default_rng(0)
    weights, p = generator.normal(size=(30, 5)), generator.dirichlet(np.full(30, 0.5))
    rejected = by_programs(weights, p)
    assert 0 < rejected.sum() < 30
    moved = 1e5 + weights @ np.diag([1e-3, 1, 1, 1, 1e3])
    np.testing.assert_array_equal(by_programs(moved, p.astype(np.float32)), rejected)


def test_an_unclear_answer_is_an_error(monkeypatch):
    unclear = SimpleNamespace(status=4, message="numerical difficulties")
    monkeypatch.setattr(linear_programs, "linprog", lambda *args, **options: unclear)
    with pytest.raises(RuntimeError, match=r"token 0 .* status 4, numerical difficulties"):
        by_programs(np.zeros((8, 1)), np.full(8, 0.125))
