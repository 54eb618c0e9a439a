"""One linear program per token, on cases that are solved by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from oversmoothing.bat import linear_programs
from oversmoothing.bat.linear_programs import reject_set_by_linear_programs
from oversmoothing.bat.reject import DELTA

RNG = np.random.default_rng(0)


def distribution(v, scale=2.0):
    powers = np.exp(scale * RNG.standard_normal(v))
    return powers / powers.sum()


@pytest.mark.parametrize("delta", [0.05, DELTA, 1.0])
@pytest.mark.parametrize("constant", [0.0, 3.7])
def test_a_head_that_says_nothing_leaves_only_the_sum(delta, constant):
    p = np.array([0.3, 0.25, 0.19, 0.15, 0.06, 0.04, 0.01])
    rejected = reject_set_by_linear_programs(np.full((7, 3), constant), p, delta)
    np.testing.assert_array_equal(rejected, np.exp(delta) * (1 - p) >= 1)


def test_full_rank_leaves_only_p():
    weights = RNG.normal(size=(12, 12))
    assert not reject_set_by_linear_programs(weights, distribution(12), DELTA).any()


def test_full_rank_at_probabilities_far_below_the_tolerance():
    p = np.array([0.15] * 6 + [0.1 - 1e-11 - 1e-14, 1e-11, 1e-14])
    assert not reject_set_by_linear_programs(RNG.normal(size=(9, 9)), p, DELTA).any()


@pytest.mark.parametrize("size", [0.1, 1e-12])
def test_a_token_gives_its_mass_to_its_twin_if_that_has_room(size):
    """The other rows are independent, so mass moves between twins alone, and a twin takes a quarter of its own."""
    weights = RNG.normal(size=(8, 8))
    weights = np.concatenate([weights, weights[:2]])  # 8 is the twin of 0, and 9 of 1
    small = size * np.array([0.2, 0.26])
    p = np.array([small[0], small[1], *[0.1] * 6, size, size])
    p[2] += 1 - p.sum()
    rejected = reject_set_by_linear_programs(weights, p, DELTA)
    np.testing.assert_array_equal(np.flatnonzero(rejected), [0])  # 0.2 <= 0.25, 0.26 > 0.25


def test_tokens_on_a_line_by_hand():
    """With W = (0, 1, 2): mass of the middle moves to both ends evenly, mass of an end cannot leave."""
    weights = np.array([[0.0], [1.0], [2.0]])
    np.testing.assert_array_equal(
        reject_set_by_linear_programs(weights, np.array([0.45, 0.1, 0.45]), DELTA), [False, True, False]
    )
    np.testing.assert_array_equal(
        reject_set_by_linear_programs(weights, np.array([0.7, 0.12, 0.18]), DELTA), [False, False, False]
    )  # an end would have to take 0.06 and has room for 0.045


def test_tokens_without_mass_are_in_the_set():
    weights = RNG.normal(size=(6, 6))
    rejected = reject_set_by_linear_programs(weights, np.array([0.5, 0.5, 0, 0, 0, 0]), DELTA)
    np.testing.assert_array_equal(rejected, [False, False, True, True, True, True])


def test_nothing_may_grow_at_delta_zero():
    assert not reject_set_by_linear_programs(np.zeros((5, 2)), distribution(5), 0.0).any()


def test_the_set_does_not_depend_on_the_units_of_the_head():
    weights, p = RNG.normal(size=(30, 5)), distribution(30)
    rejected = reject_set_by_linear_programs(weights, p, DELTA)
    assert 0 < rejected.sum() < 30
    moved = 1e5 + weights @ np.diag([1e-3, 1, 1, 1, 1e3])
    np.testing.assert_array_equal(reject_set_by_linear_programs(moved, p.astype(np.float32), DELTA), rejected)


def test_an_unclear_answer_is_an_error(monkeypatch):
    unclear = SimpleNamespace(status=4, message="numerical difficulties")
    monkeypatch.setattr(linear_programs, "linprog", lambda *args, **options: unclear)
    with pytest.raises(RuntimeError, match=r"token 0 .* status 4, numerical difficulties"):
        reject_set_by_linear_programs(np.zeros((8, 1)), np.full(8, 0.125), DELTA)


@pytest.mark.parametrize(
    ("p", "delta", "message"),
    [
        ([0.5, 0.5], DELTA, r"\(3, 1\) and p \(2,\)"),
        ([0.5, 0.6, -0.1], DELTA, "negative value"),
        ([0.5, np.nan, 0.5], DELTA, "NaN"),
        ([0.5, 0.4, 0.0], DELTA, "sum 0.9"),
        ([0.5, 0.3, 0.2], -1.0, "delta -1.0"),
    ],
)
def test_what_is_no_distribution(p, delta, message):
    with pytest.raises(ValueError, match=message):
        reject_set_by_linear_programs(np.zeros((3, 1)), np.array(p), delta)
