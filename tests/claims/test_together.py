"""Many comparisons at once: how often a verdict is wrong by chance, and what each kind of interval takes of the level.

Shares of simulated runs have a Monte Carlo error: of 600, an sd of 0.9 percentage points where the truth is 5 %.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from oversmoothing.claims.comparison import Chance, Comparison, Outcome, Value, agree, compare, correlate
from oversmoothing.claims.together import upper_ends
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge
from oversmoothing.numerics.statistics import Difference, WindowSums, expanded

RESAMPLES = 500
CHANCE = Chance(RESAMPLES, 0, {"tto": 0.0})
NORMAL, SKEWED = "standard_normal", "standard_exponential"


def window_means(draw, models, windows, noise):
    """Mean scores by window, model and decoding: some windows are hard for all, some for one model or one decoding."""
    sizes = {(windows, 1, 1): 0.2, (windows, models, 1): 0.1, (windows, 1, 5): 0.05, (windows, models, 5): 0.05}
    return sum(spread * getattr(draw, noise)(size) for size, spread in sizes.items())


def simulated(runs, models, windows, noise=NORMAL, seed=0):
    """Yield the comparisons of runs whose decodings are all equal: each of four less the fifth, in every model."""
    draw = np.random.default_rng(seed)
    drawn = draw.integers(0, windows, (RESAMPLES, windows))
    times = np.stack([np.bincount(row, minlength=windows) for row in drawn]) / windows
    beyond = scipy.stats.norm.sf(expanded(0.025, windows))
    for _ in range(runs):
        means = window_means(draw, models, windows, noise)
        differences = (means[:, :, 1:] - means[:, :, :1]).reshape(windows, -1)
        effects = differences.mean(axis=0)
        errors = (times @ differences - effects).T
        ends = effects[:, None] + np.quantile(errors, [beyond, 1 - beyond], axis=1).T
        yield [
            Comparison(
                f"{i}", effect, low, high, drawn=Difference(effect, low, high, drawn_errors, tuple(range(windows)))
            )
            for i, (effect, (low, high), drawn_errors) in enumerate(zip(effects, ends, errors, strict=True))
        ]


def shifted(one, by):
    return replace(one, effect=one.effect + by, low=one.low + by, high=one.high + by)


def shares(cases):
    """Return how often equal decodings fail, and how often one hold that is equal among four that are much better."""
    runs = list(cases)
    fails = np.mean([judge(run).verdict == FAILS for run in runs])
    holds = np.mean([judge([run[0], *(shifted(one, 10.0) for one in run[1:])]).verdict == HOLDS for run in runs])
    return fails, holds


@pytest.mark.parametrize("models", [5, 7])
def test_equal_decodings_seldom_fail_and_seldom_hold(models):
    fails, holds = shares(simulated(600, models, windows=100))
    assert 0 < fails <= 0.05
    assert 0 < holds <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("noise", [NORMAL, SKEWED])
@pytest.mark.parametrize(("models", "windows"), [(5, 100), (7, 100), (7, 20)])
def test_so_they_do_over_few_windows_and_with_skewed_scores(models, windows, noise):
    fails, holds = shares(simulated(4000, models, windows, noise, seed=1))
    assert 0 < fails <= 0.05
    assert 0 < holds <= 0.05


def scored(values, windows):
    sums = WindowSums()
    sums.add(windows, values)
    return Value((float(values.mean()),), ("one training",), "tto", (sums,))


@pytest.mark.slow
def test_so_they_do_from_scores_to_verdict():
    draw, windows = np.random.default_rng(2), np.repeat(np.arange(60), 5)
    fails = []
    for _ in range(300):
        means = np.repeat(window_means(draw, 5, 60, NORMAL), 5, axis=0)
        scores = means + draw.normal(0, 0.3, means.shape)
        values = [[scored(scores[:, model, i], windows) for i in range(5)] for model in range(5)]
        compared = [compare(other, of_model[0], "", CHANCE) for of_model in values for other in of_model[1:]]
        fails.append(judge(compared).verdict == FAILS)
    assert 0 < np.mean(fails) <= 0.05


@pytest.mark.parametrize("models", [5, 7])
def test_one_that_is_clearly_against_among_many_that_are_equal_is_found(models):
    for run in simulated(20, models, windows=100, seed=3):
        sd = (run[0].high - run[0].low) / (2 * 1.96)
        verdict = judge([shifted(run[0], -run[0].effect - 6 * sd), *(shifted(one, 1.0) for one in run[1:])])
        assert (verdict.verdict, verdict.weakest.name, verdict.against) == (FAILS, "0", 1)
        assert verdict.weakest.high < verdict.upper < 0


def test_alone_it_takes_the_end_of_its_own_interval_and_among_others_more():
    (run,) = simulated(1, 5, windows=100, seed=4)
    (alone,) = upper_ends(run[:1])
    assert alone == pytest.approx(run[0].high, abs=0.1 * (run[0].high - run[0].low))
    assert alone >= run[0].high
    assert upper_ends(run)[0] > alone
    assert upper_ends([run[0]] * 20) == pytest.approx([alone] * 20)  # always alike: no more chances than one


def test_one_just_against_alone_cannot_be_told_among_twenty():
    (run,) = simulated(1, 5, windows=100, seed=5)
    one = shifted(run[0], -run[0].high - 1e-4)
    rest = [shifted(other, 1.0) for other in run[1:]]
    assert one.outcome == Outcome.AGAINST
    verdict = judge([one, *rest])
    assert (verdict.verdict, verdict.held, verdict.against) == (OPEN, 19, 0)
    assert verdict.upper > 0


def plain(effect, half=0.0, **more):
    return Comparison(f"{effect}", effect, effect - half, effect + half, **more)


def test_numbers_without_chance_take_no_part_of_the_level():
    exact = [plain(1.0), plain(0.0, exactly=True), Comparison("", 1.0, math.nan, math.nan)]
    ends = upper_ends([plain(-1.0, 0.5), *exact])
    assert ends[:3] == [-0.5, 1.0, 0.0]
    assert math.isnan(ends[3])
    assert judge([plain(-1.0), plain(2.0)]).verdict == FAILS
    assert judge([exact[2], plain(2.0)]).verdict == OPEN


def test_intervals_without_common_draws_share_it_equally():
    z = scipy.stats.norm.isf(0.025 / 4) / scipy.stats.norm.isf(0.025)
    assert upper_ends([plain(-1.0, 0.5)] * 4) == pytest.approx([-1 + 0.5 * z] * 4)
    r = correlate([1, 2, 3, 4, 5], [5, 1, 4, 2, 3], "", CHANCE, 0.7)
    assert r.interval == "Fisher, n = 5 models"
    fisher = scipy.stats.pearsonr([1, 2, 3, 4, 5], [5, 1, 4, 2, 3])
    assert (r.low, r.high) == pytest.approx(tuple(fisher.confidence_interval(0.95)))
    assert upper_ends([r] * 4) == pytest.approx([fisher.confidence_interval(1 - 2 * 0.025 / 4).high] * 4)


def test_draws_of_other_windows_are_another_share():
    (run,) = simulated(1, 5, windows=100, seed=6)
    other = replace(run[1], drawn=replace(run[1].drawn, windows=tuple(range(100, 200))))
    assert upper_ends([run[0], other])[0] > upper_ends([run[0]])[0]
    assert upper_ends([run[0], other])[0] >= upper_ends([run[0], run[1]])[0]


def test_margins_over_seeds_share_a_level_of_their_own():
    draw = np.random.default_rng(7)
    a, b = (Value(tuple(draw.normal(0, 1, 3)), tuple(f"{name}{i}" for i in range(3)), "tto") for name in "ab")
    compared = compare(a, b, "", CHANCE)
    assert compared.freedom == 2
    means = np.subtract(a.means, b.means)
    for k in (1, 20):
        high = scipy.stats.t.interval(1 - 0.05 / k, 2, means.mean(), scipy.stats.sem(means))[1]
        assert upper_ends([compared] * k) == pytest.approx([high] * k)
    fails = 0
    for _ in range(200):
        means = draw.normal(0, 1, (20, 3))
        values = [Value(tuple(of_seeds), ("a", "b", "c"), "tto") for of_seeds in means]
        fails += judge([compare(value, Value((0.0,)), "", CHANCE) for value in values]).verdict == FAILS
    assert 0 < fails / 200 <= 0.05


def test_two_that_are_to_agree_both_count():
    draws = np.random.default_rng(8).normal(0, 0.25, (2, 2000)).astype(np.float32)
    windows = tuple(range(1000))

    def of(effect, errors):
        low, high = effect + np.quantile(errors, [0.025, 0.975])
        return Comparison("", effect, low, high, drawn=Difference(effect, low, high, errors, windows))

    clear, faint = of(-1.0, draws[0]), of(-0.52, draws[0])
    second = of(1.0, draws[1])
    assert judge([agree(clear, second)]).verdict == FAILS
    assert agree(faint, second).outcome == Outcome.AGAINST  # each by its own interval
    verdict = judge([agree(faint, second)])
    assert (verdict.verdict, verdict.upper) == (OPEN, math.inf)
    assert judge([agree(clear, of(-1.0, draws[1]))]).verdict == HOLDS


def test_what_varies_over_seeds_fails_seldom_when_two_are_to_agree():
    draw, fails = np.random.default_rng(9), 0
    means = np.array([0.0, 5.0])[:, None, None]  # equal under one metric, far apart under the other
    for _ in range(200):
        pairs = means + draw.normal(0, 1, (2, 10, 3))
        first, second = (
            [compare(Value(tuple(of_seeds), ("a", "b", "c"), "tto"), Value((0.0,)), "", CHANCE) for of_seeds in values]
            for values in pairs
        )
        fails += judge([agree(*pair) for pair in zip(first, second, strict=True)]).verdict == FAILS
    assert fails / 200 <= 0.05
