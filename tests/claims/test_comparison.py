"""Comparisons and verdicts: each kind by hand, and what chance does to them."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from oversmoothing.claims.comparison import Chance, Comparison, Missing, Outcome, Value, agree, compare, constant, minus
from oversmoothing.claims.verdict import judge, judge_claim
from oversmoothing.numerics.statistics import WindowSums

CHANCE = Chance(500, 0, {"tto": 0.1, "losses": 0.02})


def measured(seed, mean, training, windows=30):
    """Scores whose windows differ, in steps of chance."""
    draw = np.random.default_rng(seed)
    ids = np.repeat(np.arange(windows), 20)
    values = mean + np.repeat(np.random.default_rng(0).normal(0, 0.2, windows), 20) + draw.normal(0, 0.02, len(ids))
    sums = WindowSums()
    sums.add(ids, values)
    return Value((float(values.mean()),), (training,), "tto", (sums,))


def test_a_clear_difference_holds_and_the_other_way_round_it_does_not():
    a, b = measured(1, 1.0, "a"), measured(2, 0.5, "b")
    assert compare(a, b, "", CHANCE).outcome == Outcome.HOLDS
    assert compare(b, a, "", CHANCE).outcome == Outcome.AGAINST


def test_a_small_difference_between_two_trainings_cannot_be_told_nor_within_one_that_another_may_contradict():
    a, b = measured(1, 1.0, "a"), measured(2, 0.95, "b")
    between = compare(a, b, "", CHANCE)
    assert between.low > 0  # paired windows leave no doubt about these two models
    assert between.margin == pytest.approx(0.1 * a.mean)
    assert between.outcome == Outcome.UNDECIDED
    within = compare(a, replace(b, trainings=a.trainings), "", CHANCE)
    assert (within.margin, within.outcome) == (between.margin, Outcome.UNDECIDED)
    untrained = compare(replace(a, trainings=()), replace(b, trainings=()), "", CHANCE)
    assert (untrained.margin, untrained.outcome) == (0, Outcome.HOLDS)


def test_within_trainings_of_several_seeds_the_differences_count_and_not_the_levels():
    seeds = ("s1", "s2", "s3")
    pure, greedy = Value((0.3, 0.5, 0.4), seeds, "tto"), Value((0.2, 0.39, 0.31), seeds, "tto")
    compared = compare(pure, greedy, "", CHANCE)
    low, high = scipy.stats.t.interval(0.95, 2, 0.1, scipy.stats.sem([0.1, 0.11, 0.09]))
    assert (compared.effect - compared.margin, compared.effect + compared.margin) == pytest.approx((low, high))
    assert compared.outcome == Outcome.HOLDS
    assert compare(pure, replace(greedy, means=(0.35, 0.4, 0.39)), "", CHANCE).outcome == Outcome.UNDECIDED


def test_positions_are_counted_once_whatever_trainings_and_truths_share_them():
    one, other = (measured(seed, 1.0, "a") for seed in (1, 2))
    both = replace(one, means=(1.0, 1.0), trainings=("a", "b"), sums=(*one.sums, *other.sums), repeats=3)
    assert (both.n, both.positions) == (1200, 200)
    few = measured(3, 0.2, "c", windows=2)
    compared = compare(both, replace(few, means=(0.2, 0.2), trainings=("c", "d")), "", CHANCE)
    assert (compared.n, compared.positions) == (40, 40)


def test_the_positions_of_a_verdict_are_those_of_the_comparisons_that_decide():
    verdict = judge([clear(5, positions=30), clear(3, positions=400)])
    assert (verdict.verdict, verdict.positions) == ("holds", 30)
    verdict = judge([clear(5, positions=30), clear(-3, positions=400)])
    assert (verdict.verdict, verdict.positions) == ("does not hold", 400)


def test_several_seeds_widen_by_the_t_interval_of_their_difference():
    a = Value((1.0, 1.2, 1.1), ("a1", "a2", "a3"))
    b = Value((0.9, 0.9, 1.0), ("b1", "b2", "b3"))
    differences = [0.1, 0.3, 0.1]
    low, high = scipy.stats.t.interval(0.95, 2, np.mean(differences), scipy.stats.sem(differences))
    compared = compare(a, b, "", CHANCE)
    assert (compared.effect - compared.margin, compared.effect + compared.margin) == pytest.approx((low, high))
    assert compared.outcome == Outcome.UNDECIDED
    alike = compare(Value((1.0, 1.1, 1.2), a.trainings), Value((0.5, 0.6, 0.69), b.trainings), "", CHANCE)
    assert alike.outcome == Outcome.HOLDS


def test_sets_with_one_value_have_the_spread_of_their_common_draws():
    draws = np.random.default_rng(0).normal(0, 1, 50)
    a, b = Value((3.0,), draws=(3 + draws,)), Value((1.0,), draws=(1 + draws / 2,))
    compared = compare(a, b, "", CHANCE)
    reach = scipy.stats.t.ppf(0.975, 49) * np.std(draws / 2, ddof=1)  # its sd is known from 50 draws
    assert (compared.low, compared.high) == pytest.approx((2 - reach, 2 + reach))
    assert compared.interval == "resamples"
    assert compared.effect == 2


def test_printed_means_decide_by_themselves_and_equal_ones_not_at_all():
    assert compare(Value((0.089,)), Value((0.088,)), "", None).outcome == Outcome.HOLDS
    assert compare(Value((0.088,)), Value((0.089,)), "", None).outcome == Outcome.AGAINST
    assert compare(Value((0.1 + 0.2,)), Value((0.3,)), "", None).outcome == Outcome.UNDECIDED
    assert compare(Value((0.088,)), Value((0.089,)), "", None, -0.0089).outcome == Outcome.HOLDS  # within a tenth


def test_one_window_decides_nothing():
    assert compare(measured(1, 1.0, "a", 1), measured(2, 0.1, "a", 1), "", CHANCE).outcome == Outcome.UNDECIDED


def test_a_gap_is_as_uncertain_as_the_values_it_lies_between():
    a, b = Value((2.0,), ("a",), "losses"), Value((1.9,), ("b",), "losses")
    gap = compare(minus(a, b), constant(0), "", CHANCE)
    assert gap.effect == pytest.approx(0.1)
    assert gap.margin == pytest.approx(0.02 * 2.0)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (1, 1, Outcome.HOLDS),
        (-1, -1, Outcome.HOLDS),
        (1, -1, Outcome.AGAINST),
        (-1, 1, Outcome.AGAINST),
        (0, 1, Outcome.UNDECIDED),
        (1, 0, Outcome.UNDECIDED),
    ],
)
def test_two_orders_agree_where_both_are_clear(first, second, expected):
    compared = agree(*(Comparison("", x, x - 0.5, x + 0.5) for x in (first, second)))
    assert compared.outcome == expected


def clear(effect, scale=1.0, **more):
    return Comparison(f"{effect}", effect, effect - 0.1, effect + 0.1, scale=scale, **more)


def test_a_claim_holds_if_all_do_and_names_the_weakest():
    verdict = judge([clear(5, 100), clear(1, 2), clear(3, 3)])
    assert (verdict.verdict, verdict.comparisons, verdict.held, verdict.against) == ("holds", 3, 3, 0)
    assert verdict.weakest.name == "5"  # a twentieth of what is compared


def test_one_clearly_against_decides_and_one_undecided_leaves_it_open():
    assert judge([clear(5), clear(0)]).verdict == "cannot tell"
    failed = judge([clear(5), clear(0), clear(-1), clear(-3)])
    assert (failed.verdict, failed.weakest.name, failed.held, failed.against) == ("does not hold", "-3", 1, 2)


def test_exactly_none_means_none():
    assert judge([Comparison("", 0, 0, 0, exactly=True)]).verdict == "holds"
    assert judge([Comparison("", 1e-6, 0, 0, exactly=True)]).verdict == "does not hold"
    assert judge([Comparison("", math.nan, math.nan, math.nan)]).verdict == "cannot tell"


def test_what_is_missing_is_said():
    def test(evidence):
        raise Missing(f"no {evidence}")

    assert vars(judge_claim(test, "rank 4")) == vars(judge_claim(test, "rank 4", "cannot tell"))
    assert judge_claim(test, "rank 4").note == "no rank 4"
    assert judge_claim(test, "rank 4", "not printed").verdict == "not printed"
    with pytest.raises(ValueError, match="without comparisons"):
        judge([])
