"""Quantiles over positions with intervals over windows: against NumPy, by hand, and where there is none."""

import numpy as np
import pytest

from oversmoothing.numerics.statistics import draw_windows
from oversmoothing.numerics.window_quantiles import BEYOND, window_quantiles

LEVELS = (0, 0.001, 0.05, 0.3, 0.5, 0.9, 0.99, 1)


def clustered(windows, seed, size=40):
    """Positions of windows of unequal length and level, in shuffled order."""
    rng = np.random.default_rng(seed)
    ids = np.repeat(rng.permutation(500)[:windows], rng.integers(1, size, windows))
    values = rng.exponential(size=len(ids)) + ids / 500
    order = rng.permutation(len(ids))
    return values[order], ids[order]


@pytest.mark.parametrize("windows", [1, 2, 30])
def test_quantiles_are_those_of_numpy(windows):
    values, ids = clustered(windows, windows)
    found = window_quantiles(values, ids, LEVELS, 20, 0)
    assert [each.level for each in found] == list(LEVELS)
    assert [each.value for each in found] == pytest.approx(np.quantile(values, LEVELS), abs=1e-12)


def test_intervals_are_those_of_windows_drawn_and_glued_together():
    values, ids = clustered(12, 3)
    (found,) = window_quantiles(values, ids, [0.3], 50, 7)
    parts = [values[ids == name] for name in np.unique(ids)]
    draws = [draw for block in draw_windows(len(parts), 50, 7) for draw in block]
    drawn = [np.quantile(np.concatenate([parts[i] for i in draw]), 0.3) for draw in draws]
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=1e-12)


def test_what_few_windows_decide_has_no_interval():
    """The largest values are all of one window; the bootstrap of a maximum is wrong however many there are."""
    values = np.concatenate([np.full(10, 99.0), np.arange(90) % 10])
    ids = np.repeat(np.arange(10), 10)
    by_level = {each.level: each for each in window_quantiles(values, ids, (0, 0.5, 0.95, 1), 50, 0)}
    assert [level for level, each in by_level.items() if np.isfinite(each.low)] == [0.5]
    assert by_level[0.95].value == 99
    assert not np.isfinite(by_level[0.95].high)
    few = window_quantiles(values, ids % (BEYOND - 1), [0.5], 50, 0)
    assert np.isnan(few[0].low)


def test_equal_values_have_an_interval_of_no_width():
    (found,) = window_quantiles(np.zeros(40), np.arange(40) // 4, [0.99], 50, 0)
    assert (found.value, found.low, found.high) == (0, 0, 0)


@pytest.mark.parametrize(
    ("values", "windows", "message"), [([], [], "no values"), ([1.0, np.nan], [4, 5], "window 5 has a non-finite")]
)
def test_mistakes(values, windows, message):
    with pytest.raises(ValueError, match=message):
        window_quantiles(np.array(values), np.array(windows), [0.5], 10, 0)
