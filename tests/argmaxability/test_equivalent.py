"""Heads whose columns, or whose bias, depend on others up to rounding: decided, and as exact arithmetic has it."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from argmax_checks import check_some, decided, radii, rng
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oversmoothing.argmaxability import classes
from oversmoothing.argmaxability.classes import argmaxable
from oversmoothing.argmaxability.equivalent import equivalent, exact_product, exact_sums
from oversmoothing.argmaxability.proofs import check, exact_combination, exact_gap

SAMPLE = np.linspace(0, 2099, 6).astype(int)


def affine_bias(v, d, *seed):
    draw = rng(v, d, *seed)
    weights = draw.normal(size=(v, d))
    return weights, weights @ draw.normal(size=d) + 1.5


def product(v, r, d, *seed):
    draw = rng(v, r, d, *seed)
    return draw.normal(size=(v, r)) @ draw.normal(size=(r, d))


def magnified(columns, r):
    """Return the first r columns, and what is left of each other one without their best fit, exactly, and made visible.

    The same classes are argmaxable: to add multiples of columns to another is an affine map of h, or a shift.
    """
    exact = np.vectorize(Fraction, otypes=[object])
    first = np.column_stack((columns[:, :r], np.ones(len(columns))))
    fits = np.linalg.lstsq(first, columns[:, r:])[0]
    left = (exact(columns[:, r:]) - exact(first) @ exact(fits)).astype(float)
    return np.column_stack((columns[:, :r], left / np.abs(left).max(axis=0)))


@pytest.mark.parametrize("d", [4, 12])
def test_a_bias_that_is_affine_in_the_rows_leaves_none_undecided(d):
    weights, bias = affine_bias(2100, d)
    result = argmaxable(weights, bias)
    assert not len(result.undecided())
    check_some(weights, bias, result, SAMPLE)
    assert (result.status == "unargmaxable").any()
    # Whatever leads without a bias leads with any, far away from 0.
    assert result.argmaxable[argmaxable(weights).argmaxable].all()


@pytest.mark.parametrize(("r", "d"), [(1, 4), (4, 8), (8, 32)])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_product_of_factors_leaves_none_undecided(r, d, kind):
    draw = rng(r, d)
    factors = draw.normal(size=(2100, r)).astype(kind), draw.normal(size=(r, d)).astype(kind)
    for weights in (factors[0] @ factors[1], factors[0].astype(np.float64) @ factors[1]):
        result = argmaxable(weights)
        assert not len(result.undecided())
        check_some(weights.astype(np.float64), None, result, SAMPLE)


@pytest.mark.parametrize("seed", range(4))
def test_affine_biases_are_decided_as_linear_programs_decide_the_magnified_remainder(seed):
    weights, bias = affine_bias(60, 3, seed)
    exact = magnified(np.column_stack((weights, bias)), 3)
    radius = radii(exact[:, :3], exact[:, 3], box=np.inf, most=1)
    assert (np.abs(radius) > 1e-7).all()  # the programs are sure
    np.testing.assert_array_equal(argmaxable(weights, bias).argmaxable, radius > 0)


@pytest.mark.parametrize("seed", range(4))
def test_products_are_decided_as_linear_programs_decide_the_magnified_remainder(seed):
    weights = product(60, 2, 4, seed)
    exact = magnified(weights, 2)
    radius = radii(exact, box=np.inf, most=1)
    # Without a bias the cell of an argmaxable class is a cone, so its ball is as large as allowed.
    assert ((radius > 1 - 1e-6) | (np.abs(radius) < 1e-6)).all()
    np.testing.assert_array_equal(decided(weights), radius > 0.5)


@pytest.mark.parametrize("scale", [1e-100, 1e-9, 1e9, 1e100])
def test_the_scale_of_the_weights_is_no_matter(scale):
    weights = product(40, 3, 5) * scale * np.array([1, 1e6, 1, 1e-6, 1])
    result = argmaxable(weights)
    assert not len(result.undecided())
    check(weights, None, result)


SHAPES = ("product", "float32 product", "whole numbers", "copies", "nearly", "off centre", "uneven", "equal rows")
BIASES = ("none", "affine", "whole affine", "float32 affine", "nearly affine", "free")


def degenerate(seed, shape, kind, v, r, more):
    """Make a head of low rank up to rounding, and a bias."""
    draw, d = rng(seed), r + more
    factors = draw.normal(size=(v, r)) * draw.gamma(1.0, size=(v, 1)), draw.normal(size=(r, d))
    if shape == "whole numbers":
        factors = np.round(2 * factors[0]), np.round(3 * factors[1])
    weights = factors[0] @ factors[1]
    if shape == "float32 product":
        weights = (factors[0].astype(np.float32) @ factors[1].astype(np.float32)).astype(np.float64)
    elif shape == "copies":
        weights[:, -1] = weights[:, 0] * draw.choice([1, -2, 1 / 3])
    elif shape == "nearly":
        weights += draw.normal(size=weights.shape) * 10.0 ** -draw.integers(8, 17)
    elif shape == "off centre":
        weights += 100 * draw.normal(size=d)
    elif shape == "uneven":
        weights *= 10.0 ** draw.integers(-9, 10, size=d)
    elif shape == "equal rows":
        weights[v // 2 :] = weights[: v - v // 2]
    map_ = draw.normal(size=d)
    bias = {
        "none": None,
        "affine": weights @ map_ + draw.normal(),
        "whole affine": weights @ np.round(2 * map_) + 3,
        "float32 affine": (weights @ map_).astype(np.float32).astype(np.float64),
        "nearly affine": weights @ map_ + draw.normal(size=v) * 10.0 ** -draw.integers(8, 17),
        "free": draw.normal(size=v),
    }[kind]
    return weights, bias


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    shape=st.sampled_from(SHAPES),
    kind=st.sampled_from(BIASES),
    v=st.integers(2, 30),
    r=st.integers(1, 4),
    more=st.integers(0, 4),
    all_pairs=st.sampled_from([0, 2048]),
)
@example(seed=1, shape="copies", kind="whole affine", v=30, r=2, more=3, all_pairs=0)
@example(seed=2, shape="product", kind="affine", v=40, r=3, more=2, all_pairs=2048)
def test_every_certificate_of_a_degenerate_head_holds(seed, shape, kind, v, r, more, all_pairs):
    weights, bias = degenerate(seed, shape, kind, v, r, more)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes, "ALL_PAIRS", all_pairs)
        result = argmaxable(weights, bias)
        check(weights, bias, result)
        # What is proven without the equivalent head stays as it was.
        patch.setattr(classes, "equivalent", lambda *_: None)
        before = argmaxable(weights, bias)
    decided = before.status != "undecided"
    np.testing.assert_array_equal(result.status[decided], before.status[decided])


numbers = st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)


@given(a=numbers, b=numbers)
def test_exact_products(a, b):
    high, low = exact_product(np.array(a), np.array(b))
    assert Fraction(float(high)) + Fraction(float(low)) == Fraction(a) * Fraction(b)


def test_exact_sums_lose_nothing():
    terms = np.array([[1e16, 1.0, -1e16], [1.0, 1e-30, -1.0]])
    assert exact_sums(terms).tolist() == [1.0, 1e-30]


def test_heads_of_full_rank_have_no_other():
    weights = rng(1).normal(size=(50, 4))
    assert equivalent(weights, None) is None
    assert equivalent(weights, rng(2).normal(size=50)) is None
    assert equivalent(product(5, 4, 8), None) is None  # no row depends on others


def test_columns_that_depend_exactly_disappear():
    """So combinations of more rows than rational arithmetic is tried for are proven."""
    draw = rng(3)
    weights = draw.normal(size=(400, 100))
    weights[:3] = draw.dirichlet(np.ones(350), 3) @ weights[50:]
    wide = np.column_stack((weights, weights, np.full(400, 0.1), 2 * weights[:, 1]))
    other = equivalent(wide, None)
    assert other.weights.shape == (400, 100)
    result = argmaxable(wide)
    np.testing.assert_array_equal(result.status, argmaxable(weights).status)
    assert (result.status[:3] == "unargmaxable").all()


def test_a_lead_that_no_float64_vector_shows_needs_its_rest():
    weights = product(40, 3, 6)
    result = argmaxable(weights)
    check(weights, None, result)
    i = next(iter(result.rest))
    assert result.status[i] == "argmaxable"
    assert exact_gap(weights, None, i, result.hidden[i], result.rest[i]) >= Fraction(float(result.margin[i])) > 0
    assert 0 < result.margin[i] < 1e-12
    assert np.linalg.norm(result.hidden[i]) == pytest.approx(1)
    assert (np.abs(result.rest[i]) <= 1e-12).all()
    for rest in (-result.rest[i] * 100, np.full(6, math.nan)):
        with pytest.raises(ValueError, match=f"class {i}"):
            check(weights, None, dataclasses.replace(result, rest={**result.rest, i: rest}))


def test_single_precision_witnesses_are_proven_with_their_rest(monkeypatch):
    monkeypatch.setattr("oversmoothing.argmaxability.certificates.DOUBLES", 0)
    weights, bias = affine_bias(40, 3)
    result = argmaxable(weights, bias)
    assert result.hidden.dtype == np.float32
    assert not len(result.undecided())
    check(weights, bias, result)


def test_shares_are_of_the_head_itself():
    """The slack, by which a class's bias is below the combination's, is that of the head's own bias."""
    weights, bias = affine_bias(60, 3)
    result = argmaxable(weights, bias)
    assert result.combination
    for i, (rows, shares) in result.combination.items():
        exact = exact_combination(weights, bias, i, rows.tolist())
        np.testing.assert_allclose(shares, [float(share) for share in exact.values()], rtol=1e-6)
