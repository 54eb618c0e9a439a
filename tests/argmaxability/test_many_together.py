"""Classes that are decided many together: the same as one by one, and every combination of many rows proved."""

import dataclasses

import numpy as np
import pytest
from argmax_checks import by_linear_programs, rng
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import LinAlgError
from scipy.optimize import linprog

from oversmoothing.argmaxability import classes, own_directions
from oversmoothing.argmaxability.classes import argmaxable
from oversmoothing.argmaxability.cushion import Cushion
from oversmoothing.argmaxability.proofs import check, generators


@pytest.fixture
def together(monkeypatch):
    """Decide small heads many together, too."""

    def decide(weights, **options):
        with monkeypatch.context() as patch:
            patch.setattr(classes, "ALL_PAIRS", 0)
            patch.setattr(classes, "EQUATIONS", 0)
            return argmaxable(weights, **options)

    return decide


def heads(seed):
    """Make a head of one of six kinds, in few dimensions, so that many rows are inside the hull of others."""
    draw, kind = rng(seed), seed % 6
    v, d = int(draw.integers(40, 200)), int(draw.integers(1, 7))
    weights = draw.normal(size=(v, d)) * draw.gamma(1.0, size=(v, 1))
    if kind == 1:
        weights = np.round(2 * weights)  # equal rows, rows on edges and faces
    if kind == 2:
        weights[: v // 3] = weights.mean(axis=0) + 1e-3 * draw.normal(size=(v // 3, d))  # near the mean row
    if kind == 3:
        weights = np.column_stack((weights, weights @ draw.normal(size=(d, 2))))  # of lower rank
    if kind == 4:
        weights = draw.standard_t(2, size=(v, d)) + 10 * draw.normal(size=d)
    if kind == 5:
        weights[: v // 2] = weights[v // 2 : 2 * (v // 2)]
    return weights


@pytest.mark.parametrize("seed", range(30))
def test_decides_as_one_by_one(seed, together):
    weights = heads(seed)
    expected, result = argmaxable(weights), together(weights)
    check(weights, None, result)
    np.testing.assert_array_equal(result.status, expected.status)


@pytest.mark.parametrize("seed", [0, 2])
def test_decides_as_one_linear_program_per_class(seed, together):
    weights = heads(seed)[:60]
    np.testing.assert_array_equal(together(weights).argmaxable, by_linear_programs(weights))


def of_many_rows(result, d):
    return [i for i, found in result.combination.items() if len(found.rows) > d + 1]


def test_rows_deep_inside_are_combinations_of_many_and_a_wrong_one_is_found(together):
    weights = rng(1).normal(size=(400, 6))
    weights[:50] *= 0.1
    result = together(weights)
    many = of_many_rows(result, 6)
    assert len(set(many) & set(range(50))) >= 40
    i, outside = many[0], int(np.flatnonzero(result.status == "argmaxable")[0])
    found = result.combination[i]
    for wrong in (
        found._replace(rows=np.where(found.rows == found.rows[0], i, found.rows)),
        found._replace(shares=-found.shares),
    ):
        with pytest.raises(ValueError, match=f"class {i}: rows"):
            check(weights, None, dataclasses.replace(result, combination=result.combination | {i: wrong}))
    status = result.status.copy()
    status[outside] = "unargmaxable"
    kept = found.rows != outside
    claimed = {**result.combination, outside: found._replace(rows=found.rows[kept], shares=found.shares[kept])}
    with pytest.raises(ValueError, match=f"class {outside}: rows"):
        check(weights, None, dataclasses.replace(result, status=status, combination=claimed))


def is_inside(target, rows):
    """Whether a row is a convex combination of rows (n, d), by a linear program."""
    equations = np.vstack((rows.T, np.ones(len(rows))))
    return linprog(np.zeros(len(rows)), A_eq=equations, b_eq=np.append(target, 1), method="highs").status == 0


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 5),
    distance=st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0, 1.001, 1.5, 10.0]),
    offset=st.sampled_from([0.0, 100.0]),
)
def test_a_cushion_proves_nothing_outside_the_hull(seed, d, distance, offset):
    """Targets lie on the way from the mean to a corner, at 1 on it, and the shares of the proof are anything."""
    draw = rng(seed)
    rows = draw.normal(size=(4 * (d + 1), d)) * draw.gamma(1.0, size=(4 * (d + 1), 1)) + offset
    corner = rows[np.argmax(rows @ draw.normal(size=d))]
    target = rows.mean(axis=0) + distance * (corner - rows.mean(axis=0))
    head = np.vstack((rows, target))
    cushion = Cushion(generators(head, None, np.arange(len(rows))), np.full(len(rows), 1 / len(rows)))
    near = np.where((rows == corner).all(axis=1), distance, 0) + (1 - distance) / len(rows)
    tried = np.vstack((near, draw.dirichlet(np.ones(len(rows)), 5)))
    goal = np.repeat(generators(head, None, [len(rows)]), len(tried), axis=0)
    proven, mended = cushion.proven(generators(head, None, np.arange(len(rows))), goal, tried)
    assert proven[0] == (distance < 1)  # at 1 only with the corner itself, without a share of others
    assert is_inside(target, rows) or not proven.any()
    np.testing.assert_allclose(
        mended[proven] @ rows, np.repeat(target[None], proven.sum(), axis=0), atol=1e-9 * (1 + offset)
    )


@pytest.mark.parametrize("rows", [np.ones((9, 3)), np.zeros((4, 2)), np.arange(8.0)[:, None] * [1.0, 2.0]])
def test_rows_of_too_few_dimensions_are_no_cushion(rows):
    generated = generators(rows, None, np.arange(len(rows)))
    weights = np.full(len(rows), 1 / len(rows))
    try:
        cushion = Cushion(generated, weights)
    except LinAlgError:
        return
    assert not cushion.proven(generated, generated[:1], weights[None])[0].any()


@pytest.mark.parametrize("uneven", [0.0, 0.1, 1.0])
def test_parts_of_the_coordinates_tell_all_that_lead_in_their_own_direction(uneven, monkeypatch):
    for name, value in (("BLOCK", 16), ("GROUP", 2)):
        monkeypatch.setattr(own_directions, name, value)
    draw = rng(3)
    rows = draw.normal(size=(150, 80)) * np.exp(uneven * draw.normal(size=(150, 1)))
    rows[7] = 0.5 * rows[8]
    products = rows @ rows.T
    own = np.diag(products).copy()
    np.fill_diagonal(products, -np.inf)
    leading = own > products.max(axis=1) * (1 + 1e-3)
    assert 0 < leading.sum() < len(rows)
    found = list(own_directions.leads(rows, np.eye(80), float(np.linalg.norm(rows, axis=1).max()), np.float64))
    margins = np.concatenate([lead for _, _, lead in found])
    lengths = np.linalg.norm(rows, axis=1)
    assert (margins[leading] > 0).all()
    assert (margins <= (own - products.max(axis=1)) / lengths).all()


def test_what_the_turns_leave_open_is_counted_and_named(together, monkeypatch):
    weights = rng(5).normal(size=(400, 6))
    monkeypatch.setattr(classes, "MORE_ROUNDS", 1)
    result, full = together(weights, effort=0), argmaxable(weights)
    left = result.undecided()
    assert 0 < len(left) < 400
    decided = np.setdiff1d(np.arange(400), left)
    np.testing.assert_array_equal(result.status[decided], full.status[decided])
    with pytest.raises(ValueError, match=rf"undecided classes \[{left[0]}, "):
        _ = result.argmaxable
