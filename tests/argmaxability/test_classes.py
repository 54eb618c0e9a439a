"""Argmaxable classes: against one linear program per class, and every certificate in rational arithmetic."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from argmax_checks import by_linear_programs, decided, rng
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oversmoothing.argmaxability.classes import argmaxable, reachable
from oversmoothing.argmaxability.proofs import check, exact_combination, exact_gap


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize(
    ("v", "d"), [(2, 1), (5, 1), (12, 2), (30, 2), (30, 3), (60, 4), (60, 6), (40, 8), (24, 12), (8, 10), (1, 3)]
)
@pytest.mark.parametrize("seed", range(2))
def test_equals_one_linear_program_per_class(v, d, with_bias, seed):
    draw = rng(v, d, seed)
    weights = draw.normal(size=(v, d)) * draw.gamma(1.0, size=(v, 1))
    bias = draw.normal(size=v) if with_bias else None
    np.testing.assert_array_equal(decided(weights, bias), by_linear_programs(weights, bias))


@pytest.mark.parametrize(
    "changed",
    [
        lambda weights: weights * np.geomspace(1, 1e-4, 4) + 30,
        lambda weights: np.column_stack((weights, np.zeros(50), weights[:, 0], np.ones(50))),
    ],
)
def test_affine_maps_of_the_rows_change_nothing(changed):
    """Trained heads have a large mean row and uneven columns."""
    weights = rng(5).normal(size=(50, 4))
    np.testing.assert_array_equal(decided(changed(weights)), decided(weights))


def test_rows_inside_the_hull():
    corners = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, -1]])
    inside = np.array([[0.0, 0, 0], [0.1, 0.2, 0.1], [0.5, 0.5, 0], [0.25, 0.25, 0.5]])  # also on an edge, on a face
    result = argmaxable(np.vstack((corners, inside)))
    np.testing.assert_array_equal(result.argmaxable, [True] * 4 + [False] * 4)
    assert dict(zip(*(array.tolist() for array in result.combination[6]), strict=True)) == {0: 0.5, 1: 0.5}
    assert sorted(result.combination) == [4, 5, 6, 7]
    assert decided(inside[:3], np.array([1.0, 0, 0]))[0]


@pytest.mark.parametrize("d", [0, 1, 5])
def test_a_head_of_zeros(d):
    assert not decided(np.zeros((4, d))).any()
    assert decided(np.zeros((4, d)), np.array([0.0, 2, 1, 2])).tolist() == [False] * 4
    assert decided(np.zeros((4, d)), np.array([0.0, 2, 1, 3])).tolist() == [False, False, False, True]
    assert decided(np.zeros((1, d))).all()


whole = st.integers(-3, 3)


@settings(max_examples=150)
@given(data=st.data(), v=st.integers(1, 9), d=st.integers(1, 4), with_bias=st.booleans())
def test_small_whole_numbers_are_never_undecided(data, v, d, with_bias):
    """Ties of every kind: equal rows, rows on edges and faces, columns that depend on each other."""
    weights = data.draw(hnp.arrays(np.int64, (v, d), elements=whole)).astype(np.float64)
    bias = data.draw(hnp.arrays(np.int64, v, elements=whole)).astype(np.float64) if with_bias else None
    np.testing.assert_array_equal(decided(weights, bias), by_linear_programs(weights, bias))


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), v=st.integers(2, 25), d=st.integers(1, 5))
def test_symmetries(seed, v, d):
    """Invariant under an invertible map of h, a constant added to all rows, and reordering."""
    draw = rng(seed)
    weights = draw.normal(size=(v, d))
    expected, order = decided(weights), draw.permutation(v)
    np.testing.assert_array_equal(decided(weights @ draw.normal(size=(d, d)) + draw.normal(size=d)), expected)
    np.testing.assert_array_equal(decided(weights[order]), expected[order])


@pytest.mark.parametrize("seed", range(6))
def test_reachable_against_directions_that_a_layer_norm_gives(seed):
    """In three dimensions what a LayerNorm gives is a circle, and a fine grid over it finds every class."""
    draw = rng(seed, 1)
    weights, gain = draw.normal(size=(30, 3)), draw.uniform(0.5, 2, 3)
    angle = np.linspace(0, 2 * np.pi, 200_001)
    first, second = np.array([1, -1, 0]) / np.sqrt(2), np.array([1, 1, -2]) / np.sqrt(6)
    states = (np.outer(np.cos(angle), first) + np.outer(np.sin(angle), second)) * gain
    seen = np.isin(np.arange(30), (states @ weights.T).argmax(axis=1))
    np.testing.assert_array_equal(decided(reachable(weights, gain)), seen)


@pytest.mark.parametrize("r", [1, 2, 5, 8])
def test_reachable_has_the_logits_of_the_projected_head(r):
    weights, gain = rng(r).normal(size=(20, r)), rng(r, 1).uniform(0.1, 2, r)
    projected = weights @ np.diag(gain) @ (np.eye(r) - np.ones((r, r)) / r)
    ours = reachable(weights, gain)
    assert ours.shape == (20, r - 1)
    np.testing.assert_allclose(ours @ ours.T, projected @ projected.T, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: argmaxable(np.array([[0, 1.0], [2, np.nan]])), "weights: row 1 has NaN"),
        (lambda: argmaxable(np.array([[0, np.inf], [2, 1]])), "weights: row 0 has NaN or an infinite"),
        (lambda: argmaxable(np.eye(3), [0, 0, np.nan]), "bias: row 2"),
        (lambda: argmaxable(np.eye(3), [0, 0]), r"bias: shape \(2,\)"),
        (lambda: argmaxable(np.ones(3)), r"weights: shape \(3,\)"),
        (lambda: argmaxable(np.ones((0, 3))), "weights: no rows"),
        (lambda: argmaxable(np.eye(3), None, np.ones((2, 4))), r"hidden: shape \(2, 4\)"),
        (lambda: reachable(np.eye(3), np.ones(2)), r"gain: shape \(2,\), but \(3\)"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_check_refuses_false_certificates():
    weights = rng(11).normal(size=(30, 3))
    result = argmaxable(weights)
    yes, no = np.flatnonzero(result.argmaxable)[0], np.flatnonzero(~result.argmaxable)[0]
    for change in (
        {"hidden": np.roll(result.hidden, 1, axis=0)},
        {"margin": result.margin * 1.01},
        {"combination": {i: rows._replace(rows=(rows.rows + 1) % 30) for i, rows in result.combination.items()}},
        {"combination": {i: rows for i, rows in result.combination.items() if i != no}},
        {"status": np.where(np.arange(30) == no, "argmaxable", result.status)},
        {"status": np.where(np.arange(30) == yes, "unargmaxable", result.status)},
    ):
        with pytest.raises(ValueError, match="class"):
            check(weights, None, dataclasses.replace(result, **change))


def test_exact_arithmetic():
    weights = np.array([[0.0, 0], [1, 0], [0, 1], [0.25, 0.25]])
    assert exact_combination(weights, None, 3, [0, 1, 2]) == {0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 4)}
    for i, support in ((1, [0, 2, 3]), (3, [0, 1]), (3, [3]), (3, [])):  # the first needs a negative weight
        assert exact_combination(weights, None, i, support) is None
    assert exact_gap(weights, None, 1, np.array([0.1, 0])) == Fraction(0.1) * 3 / 4
    tenth = np.array([[0.1, 0.2], [0.2, 0.1], [0.15, 0.15]])  # 0.15 is not half of 0.1 + 0.2 in binary
    assert exact_combination(tenth, None, 2, [0, 1]) is None
