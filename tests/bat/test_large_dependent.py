"""Brackets where the likeliest rows are dependent and the tail's are not: against HiGHS, one program per token."""

from dataclasses import replace

import numpy as np
import pytest
from dependent import CERTAIN, FAMILIES, HEAVY, draw, lowest
from heads import distributions
from methods import constraints

import oversmoothing.bat.large.solve as large
from oversmoothing.bat.basis import prepare
from oversmoothing.bat.large.position import ACCEPTED, OPEN, REJECTED, Position, WorkingSet
from oversmoothing.bat.reject import DELTA, reject_set

SMALL = 1e-9  # minima above it, and below `CERTAIN`, are left to neither side


@pytest.mark.parametrize("d", [2, 3, 4, 8, 16])
@pytest.mark.parametrize("v", [1100, 3000])
@pytest.mark.parametrize("whole", [0, large.WHOLE])
def test_equal_rows_do_not_take_the_tails_mass(v, d, whole, monkeypatch):
    """The likeliest tokens are one point, from which no mixture reaches the other two, so .24 stays in the support."""
    monkeypatch.setattr(large, "WHOLE", whole)
    for seed in range(2):
        generator = np.random.default_rng([v, d, seed])
        weights, p = np.zeros((v, d)), np.full(v, 1e-9)
        likely = 12 * (d + 1)
        weights[:likely, 0] = 1
        weights[likely:, 1:] = generator.normal(size=(v - likely, d - 1))
        p[:likely], p[likely : likely + 2] = 0.76 / likely, 0.12
        low, high = reject_set(prepare(weights), p, mass_tolerance=1e-3).mass
        assert (low[0], high[0]) == (pytest.approx(0.76, abs=1e-4), pytest.approx(0.76, abs=1e-4))
    assert lowest(weights, p / p.sum(), np.array([0, likely]), 1.25) == pytest.approx([0, 1], abs=1e-3)


@pytest.mark.parametrize("bound", [1.05, 1.25, 2.0, 4.0, np.exp(20.0)])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("whole", [0, large.WHOLE])
def test_no_decision_differs_from_a_linear_program(family, bound, whole, monkeypatch):
    monkeypatch.setattr(large, "WHOLE", whole)
    judged = 0
    for seed, (d, rest) in enumerate([(2, 1e-9), (3, 1e-6), (8, 1e-12)]):
        weights, p = draw(family, 1100, d, rest, seed)
        status = large.solve(constraints(prepare(weights)), p, bound, 1e-3).status
        heavy = np.flatnonzero(p >= HEAVY)
        tokens = np.r_[heavy[:3], heavy[heavy >= 12 * (d + 1)]]
        minima = lowest(weights, p, tokens, bound)
        assert not ((status[tokens] == REJECTED) & (minima > CERTAIN)).any()
        assert not ((status[tokens] == ACCEPTED) & (minima < SMALL)).any()
        judged += (~np.isnan(minima) & (status[tokens] != OPEN)).sum()
    assert judged >= 6


@pytest.mark.parametrize("family", ["equal", "complement"])
def test_a_working_set_that_lacks_a_direction_proves_nothing_of_the_tail(family):
    weights, p = draw(family, 1100, 4, 1e-9, 0)
    position = Position(constraints(prepare(weights)), p, 0.25, np.zeros(1100, np.int8))
    few = WorkingSet(position, np.arange(60), 5)
    assert not few.metric.complete
    slices, place, still = [few.tail[:2], few.tail[5:]], np.array([0]), np.zeros((len(few.tail), 1))
    assert not few.reject_slices(slices, large._sums(position, slices)).any()
    assert not few.reject(place, np.zeros((60, 1)), few.tail, still, few.pull(few.tail, still)).any()
    assert (position.status == OPEN).all()
    wider = large._span(few)
    assert wider.metric.complete
    slices = np.split(wider.tail[:100], 100)
    assert wider.reject_slices(slices, large._sums(position, slices)).any()


def test_rows_that_differ_by_less_than_the_tolerance_are_one_row_to_the_working_set_alone():
    """The likely tokens imply the last direction up to 1e-14; the others, of mass 1e-6, take up what that leaves."""
    generator = np.random.default_rng(0)
    weights = generator.normal(size=(1100, 3))
    weights[:60, 2] *= 1e-14
    p = np.r_[np.full(60, (1 - 1e-6) / 60), np.full(1040, 1e-6 / 1040)]
    position = large.solve(constraints(prepare(weights)), p, 1.25, 1e-4)
    assert position.mass(OPEN) <= 1e-4
    minima = lowest(weights, p, np.arange(0, 60, 6), 1.25)
    np.testing.assert_array_equal(position.status[:60:6] == REJECTED, minima < CERTAIN)


@pytest.mark.parametrize("delta", [DELTA, 20.0])
@pytest.mark.parametrize("nats", [3.0, 7.4])
@pytest.mark.parametrize(("v", "d", "points"), [(2000, 2, 2000), (5000, 8, 5000), (5000, 16, 5000), (3000, 4, 50)])
def test_few_dimensions_or_few_distinct_rows_are_decided(v, d, points, nats, delta):
    """The theorem, on all tokens: where p is flat, the working set cannot take the whole tail."""
    generator = np.random.default_rng([v, d])
    weights = generator.normal(size=(points, d))
    weights = weights if points == v else weights[generator.integers(0, points, v)]
    p = distributions(weights, np.array([nats]), generator)
    low, high = reject_set(prepare(weights), p, delta, 1e-3).mass
    assert high[0] - low[0] <= 1e-3


def test_a_token_whose_twins_cannot_take_its_mass_is_not_their_affair():
    """Five points, twice each: the likelier twin holds three times what the other does."""
    weights = np.repeat(np.random.default_rng(0).normal(size=(5, 4)), 2, axis=0)
    p = np.tile([0.15, 0.05], 5)
    with_twins = replace(constraints(prepare(weights)), twins=prepare(weights).twins)
    for bound, rejected in ((1.25, [False, False]), (1.34, [False, True]), (4.1, [True, True])):
        position = Position(with_twins, p, bound - 1, np.zeros(10, np.int8), {1: None})
        position.reject_twins()
        np.testing.assert_array_equal(position.status.reshape(5, 2) == REJECTED, [rejected] * 5)
    np.testing.assert_allclose(position.witnesses[1][:3], [1 / 3, -1, 0], atol=1e-12)
