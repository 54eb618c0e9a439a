"""Means, bootstrap intervals and critical values against independent computation."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from oversmoothing.numerics.statistics import WindowSums, holm, paired_difference, student_p, summarise


def clustered(windows=40, seed=0, size=50):
    """Positions whose windows differ, of unequal length, in shuffled order."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, size, windows)
    ids = np.repeat(rng.permutation(1000)[:windows], lengths)
    values = np.repeat(rng.standard_normal(windows), lengths) + rng.standard_normal(len(ids))
    order = rng.permutation(len(ids))
    return ids[order], values[order]


def seen(ids, values, blocks=1):
    sums = WindowSums()
    for i, x in zip(np.array_split(ids, blocks), np.array_split(values, blocks), strict=True):
        sums.add(i, x)
    return sums


def test_mean_and_sd_are_those_over_positions():
    ids, values = clustered()
    cell = summarise(seen(ids, values, 7), 100, 0)
    assert cell.n == len(values)
    assert cell.mean == pytest.approx(values.mean(), abs=1e-13)
    assert cell.sd == pytest.approx(values.std(ddof=1), abs=1e-13)


@given(st.integers(1, 200), st.integers(0, 5))
def test_the_cut_into_blocks_and_their_order_do_not_matter(blocks, seed):
    ids, values = clustered(seed=seed)
    whole = summarise(seen(ids, values), 50, 0)
    parts = summarise(seen(ids[::-1], values[::-1], blocks), 50, 0)
    assert vars(parts) == pytest.approx(vars(whole), rel=1e-9, abs=1e-11)


def test_digits_survive_a_large_offset():
    ids, values = clustered()
    near, far = (summarise(seen(ids, values + shift, 9), 200, 0) for shift in (0.0, 1e9))
    assert far.sd == pytest.approx(near.sd, rel=1e-6)
    assert far.high - far.low == pytest.approx(near.high - near.low, rel=1e-5)


def interval(difference):
    return difference.effect, difference.low, difference.high


def glued_means(sets, resamples, seed):
    """Mean of each set in each draw, (sets, resamples): whole windows are drawn and their positions glued together."""
    windows = np.unique(np.concatenate([ids for ids, _ in sets]))
    drawn = np.random.default_rng(seed).integers(len(windows), size=(resamples, len(windows)))
    groups = [[values[ids == window] for window in windows] for ids, values in sets]
    return np.array([[np.concatenate([group[i] for i in row]).mean() for row in drawn] for group in groups])


def test_interval_agrees_with_windows_glued_together():
    ids, values = clustered()
    cell = summarise(seen(ids, values), 10_000, 0)
    low, high = np.quantile(glued_means([(ids, values)], 10_000, 5), [0.025, 0.975])
    assert (cell.low, cell.high) == pytest.approx((low, high), abs=0.04 * (high - low))


def test_same_resamples_for_every_key_and_every_run():
    ids, values = clustered()
    a, b = summarise(seen(ids, values), 500, 0), summarise(seen(ids, values + 3), 500, 0)
    assert (b.low - a.low, b.high - a.high) == pytest.approx((3, 3), abs=1e-12)
    assert summarise(seen(ids, values), 500, 0) == a
    assert summarise(seen(ids, values), 500, 1).low != a.low


def test_float32_is_summed_in_float64():
    values = np.full(3_000_001, 0.1, np.float32)
    values[0] = 1.0
    cell = summarise(seen(np.zeros(len(values), np.int32), values), 10, 0)
    assert cell.mean == pytest.approx(values.astype(np.float64).mean(), rel=1e-12)


def test_one_window_has_no_interval():
    one = summarise(seen(np.zeros(4, int), np.array([1.0, 2, 3, 4])), 100, 0)
    sd = np.std([1, 2, 3, 4], ddof=1)
    assert vars(one) == pytest.approx({"mean": 2.5, "sd": sd, "n": 4, "low": math.nan, "high": math.nan}, nan_ok=True)
    assert math.isnan(summarise(seen(np.array([1]), np.array([2.0])), 100, 0).sd)


def test_mistakes_are_named():
    sums = WindowSums()
    with pytest.raises(ValueError, match="window 7"):
        sums.add(np.array([1, 7]), np.array([1.0, math.nan]))
    with pytest.raises(ValueError, match="no values"):
        summarise(sums, 100, 0)


def pair(missing=()):
    ids, values = clustered(size=8)
    a = ids, values
    other = values + 0.3 + np.random.default_rng(5).normal(0, 0.1, len(values))
    keep = ~np.isin(ids, missing)
    return a, (ids[keep], other[keep])


@pytest.mark.parametrize("missing", [0, 5])
def test_paired_difference_agrees_with_windows_glued_together(missing):
    a, b = pair(np.unique(clustered(size=8)[0])[:missing])
    difference, low, high = interval(paired_difference(seen(*a), seen(*b, 3), 3000, 0))
    assert difference == pytest.approx(a[1].mean() - b[1].mean(), abs=1e-12)
    expected = np.quantile(np.subtract(*glued_means([a, b], 3000, 9)), [0.025, 0.975])
    assert (low, high) == pytest.approx(expected, abs=0.08 * (expected[1] - expected[0]))


def test_paired_difference_keeps_its_digits_far_from_zero():
    a, b = pair()
    near = paired_difference(seen(*a), seen(*b), 500, 0)
    far = paired_difference(seen(a[0], a[1] + 1e9), seen(b[0], b[1] + 1e9), 500, 0)
    assert interval(far) == pytest.approx(interval(near), abs=1e-6)
    assert far.errors == pytest.approx(near.errors, abs=1e-6)


def test_a_draw_without_values_on_one_side_is_left_out():
    windows = np.arange(4)
    lonely = seen(np.array([2]), np.array([7.0]))
    difference = paired_difference(lonely, seen(windows, np.ones(4)), 500, 0)
    assert interval(difference) == (6, 6, 6)
    assert 0 < np.isnan(difference.errors).sum() < 500


def test_differences_that_cannot_be_had():
    one = seen(np.zeros(3, int), np.array([1.0, 2, 3]))
    difference = paired_difference(one, seen(np.zeros(1, int), np.array([0.5])), 100, 0)
    assert interval(difference) == pytest.approx((1.5, math.nan, math.nan), nan_ok=True)
    with pytest.raises(ValueError, match="no values"):
        paired_difference(one, WindowSums(), 100, 0)


def test_the_interval_of_a_difference_covers_over_few_windows_too():
    draw, inside = np.random.default_rng(3), 0
    windows = np.arange(8)
    for _ in range(400):
        a, b = (seen(windows, draw.normal(0, 1, 8)) for _ in range(2))
        difference = paired_difference(a, b, 400, 0)
        inside += difference.low <= 0 <= difference.high
    assert 0.92 < inside / 400 < 0.98


def test_holm_by_hand():
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": np.nan})
    assert adjusted == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06, "d": np.nan}, nan_ok=True)


def test_student_p_agrees_with_scipy_and_knows_constants():
    values = [0.1, 0.3, -0.05, 0.2, 0.15]
    assert student_p(values) == pytest.approx(scipy.stats.ttest_1samp(values, 0).pvalue)
    assert student_p([0.0, 0.0]) == 1
    assert student_p([0.5, 0.5]) == 0
    assert math.isnan(student_p([0.5]))
