"""The fit of the law: known numbers are fitted again, by another optimiser too, and what cannot be told is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from studies.saturation.law import DELTA, estimable, fit, sizes
from studies.saturation.measure import LEVELS, band, moving_blocks, resample

KNOWN = {"A": 400.0, "alpha": 0.34, "B": 410.0, "beta": 0.28, "E": 1.69}


def loss(parameters, seen, law=KNOWN):
    return law["A"] / parameters ** law["alpha"] + law["B"] / seen ** law["beta"] + law["E"]


def grid(sizes, points=14):
    parameters, seen = np.meshgrid(np.array(sizes, float), np.geomspace(2e8, 4e9, points), indexing="ij")
    return parameters.ravel(), seen.ravel()


@settings(max_examples=15)
@given(
    alpha=st.floats(0.15, 1.0), beta=st.floats(0.15, 1.0), floor=st.floats(0.5, 3), text=st.floats(0.3, 2),
    size=st.floats(0.3, 2),
)  # fmt: skip
def test_known_numbers_are_found_again(alpha, beta, floor, text, size):
    """Without noise the law is fitted whatever its numbers are, as long as every term matters."""
    parameters, seen = grid([1e6, 1e7, 1e8], 20)
    known = {"A": size * 1e6**alpha, "alpha": alpha, "B": text * 2e8**beta, "beta": beta, "E": floor}
    fitted = fit(parameters, seen, np.log(loss(parameters, seen, known)))
    np.testing.assert_allclose(np.exp(fitted.log_loss(parameters, seen)), loss(parameters, seen, known), rtol=1e-5)
    assert fitted.values == pytest.approx(known, rel=0.01)


def test_the_fit_is_that_of_another_optimiser():
    """Hoffmann et al. minimise the Huber loss itself by L-BFGS; from our optimum it finds nothing lower."""
    parameters, seen = grid([2e6, 5e6, 1.2e7, 4e7])
    log_losses = np.log(loss(parameters, seen)) + np.random.default_rng(0).normal(0, 0.01, len(seen))
    log_losses[5] += 0.3

    def huber(x):
        terms = [x[0] - x[1] * np.log(parameters), x[2] - x[3] * np.log(seen), np.full(len(seen), x[4])]
        apart = np.abs(np.log(np.exp(terms).sum(axis=0)) - log_losses)
        return np.where(apart < DELTA, apart**2 / 2, DELTA * (apart - DELTA / 2)).sum() / DELTA**2

    fitted = fit(parameters, seen, log_losses).values
    ours = np.array([np.log(fitted["A"]), fitted["alpha"], np.log(fitted["B"]), fitted["beta"], np.log(fitted["E"])])
    starts = [ours, [np.log(300), 0.3, np.log(300), 0.3, np.log(1.5)], [np.log(30), 0.2, np.log(900), 0.35, 0.0]]
    lowest = min(minimize(huber, start, method="Nelder-Mead", options={"maxiter": 6000}).fun for start in starts)
    assert huber(ours) <= lowest + 1e-4


def test_one_size_leaves_two_terms_and_two_sizes_any_alpha():
    one, seen = grid([1e7])
    assert estimable(one) == ("B", "beta", "E")
    fitted = fit(one, seen, np.log(loss(one, seen)))
    assert fitted.values == pytest.approx({"A": 0, "alpha": 0.34, "B": 410, "beta": 0.28, "E": 1.69 + 400 / 1e7**0.34})
    two, seen = grid([1e7, 1e8])
    assert estimable(two) == ("A", "B", "beta", "E")
    low, high = (fit(two, seen, np.log(loss(two, seen)), alpha=alpha) for alpha in (0.2, 0.9))
    np.testing.assert_allclose(low.log_loss(two, seen), high.log_loss(two, seen), atol=1e-6)
    assert low.values["E"] < 0.9 * high.values["E"]


def test_sizes_that_are_nearly_equal_are_one():
    assert sizes(np.array([100.0, 105, 109, 100])) == 1
    assert sizes(np.array([100.0, 111, 200, 210])) == 3
    assert sizes(np.array([])) == 0


def test_blocks_stay_in_their_history_and_draw_all_alike():
    random = np.random.default_rng(0)
    values = np.concatenate([np.arange(8.0), 100 + np.arange(3.0)])
    drawn = np.array([moving_blocks(values, [8, 3], random) for _ in range(4000)])
    assert drawn[:, :8].max() == 7
    assert drawn[:, 8:].min() == 100
    assert np.bincount(drawn[:, :8].ravel().astype(int)).std() / 4000 < 0.05
    steps = np.diff(drawn[:, :2]) % 8
    assert (steps == 1).all()  # runs of two


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Independent noise, four sizes: near 95 %, and narrower intervals for less noise."""
    parameters, seen = grid([2e6, 5e6, 1.2e7, 4e7], 12)
    random = np.random.default_rng(3)
    held, new = 0, 0
    for i in range(15):
        log_losses = np.log(loss(parameters, seen)) + random.normal(0, 0.004, len(seen))
        _, draws, residuals = resample(parameters, seen, log_losses, [12] * 4, 60, i)
        low, high = np.quantile([draw.values["beta"] for draw in draws], LEVELS)
        held += low <= 0.28 <= high
        low, high = band(draws, residuals, 1e6, np.array([8e9]), i)
        new += low[0] <= loss(1e6, 8e9) * np.exp(random.normal(0, 0.004)) <= high[0]
    assert held >= 11
    assert new >= 11
