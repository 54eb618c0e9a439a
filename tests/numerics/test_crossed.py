"""Intervals over seeds and windows: by hand, in their limits, and against what was drawn."""

import numpy as np
import pytest
from scipy.stats import t

from oversmoothing.numerics.crossed import crossed_interval, error_of_windows
from oversmoothing.numerics.statistics import student_interval


def test_by_hand():
    """Means of seeds 2 and 4, of windows 1, 3 and 5, and no rest: variances 2 / 2 and 4 / 3, at 1 and 2 degrees."""
    mean, low, high = crossed_interval([[0, 2, 4], [2, 4, 6]], [1, 1, 1])
    by_seed, by_window = 2 / 2, 4 / 3
    degrees = (by_seed + by_window) ** 2 / (by_seed**2 / 1 + by_window**2 / 2)
    half = t.ppf(0.975, degrees) * np.sqrt(by_seed + by_window)
    assert (mean, low, high) == pytest.approx((3, 3 - half, 3 + half))
    assert error_of_windows([[0, 2, 4], [2, 4, 6]], [1, 1, 1]) == pytest.approx(np.sqrt(by_window))


def test_where_one_of_both_says_nothing_the_other_is_students():
    seeds, windows = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 5.0, 6.0, 2.0])
    assert crossed_interval(np.tile(seeds, 4), [1, 2, 3, 4]) == pytest.approx(student_interval(seeds[:, 0]))
    assert crossed_interval(np.tile(windows, (3, 1)), np.ones(4)) == pytest.approx(student_interval(windows))
    assert crossed_interval(np.full((2, 2), 7.0), [1, 2]) == (7, 7, 7)
    for few in (np.ones((1, 3)), np.ones((3, 1))):
        assert np.isnan(crossed_interval(few, np.ones(few.shape[1]))[1:]).all()
        assert error_of_windows(few, np.ones(few.shape[1])) == 0


def test_windows_are_weighed_and_order_and_scale_do_not_matter():
    random = np.random.default_rng(0)
    values, weights = random.normal(size=(4, 6)), random.integers(1, 9, 6)
    mean, low, high = crossed_interval(values, weights)
    assert mean == pytest.approx(np.average(values, axis=1, weights=weights).mean())
    moved = crossed_interval(3 * values[::-1, ::-1] + 1, 10 * weights[::-1])
    assert moved == pytest.approx((3 * mean + 1, 3 * low + 1, 3 * high + 1))


def test_the_error_of_windows_is_what_they_add_to_that_of_seeds():
    random, found = np.random.default_rng(3), []
    for _ in range(400):
        values = random.normal(size=(5, 1)) + 2 * random.normal(size=(1, 40)) + 3 * random.normal(size=(5, 40))
        found.append(error_of_windows(values, np.ones(40)) ** 2)
    assert np.mean(found) == pytest.approx(2**2 / 40, rel=0.1)


@pytest.mark.parametrize(("of_seeds", "of_windows", "rest"), [(0.1, 1, 1), (1, 0.1, 0.1), (0.3, 0.5, 2), (0.3, 3, 0)])
def test_it_holds_the_mean_as_often_as_it_says(of_seeds, of_windows, rest):
    random, held, times = np.random.default_rng(7), 0, 1500
    for _ in range(times):
        values = of_seeds * random.normal(size=(5, 1)) + of_windows * random.normal(size=(1, 60))
        _, low, high = crossed_interval(values + rest * random.normal(size=(5, 60)), np.ones(60))
        held += low <= 0 <= high
    assert 0.935 < held / times < 0.985
