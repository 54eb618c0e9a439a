"""The plane of cuts and the frontiers in it, on cases solved by hand and against the metrics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from oversmoothing.bat.basis import prepare
from oversmoothing.measures.cuts import Plane, cuts, in_hindsight, of_bat, places
from oversmoothing.measures.frontiers import Resampled, area, frontier, gain
from oversmoothing.scores.metrics import tto
from oversmoothing.scores.probabilities import renormalised


def drawn(seed, n=20, v=30):
    return np.random.default_rng(seed).dirichlet(np.full(v, 0.3), size=n)


def plane_of(p):
    with np.errstate(divide="ignore"):
        return Plane(np.log(p), 0.9)


def test_measures_by_hand():
    assert Plane(np.array([[0.0, -2000.0, -np.inf]]), 0.9).impossible.tolist() == [[False, False, True]]
    plane = plane_of(np.array([[0.6, 0.35, 0.05, 0.0]]))
    q, keep = np.array([[0.4, 0.2, 0.2, 0.2]]), np.array([[True, False, True, True]])
    measures = {name: values[0] for name, values in plane.measures(q, keep).items()}
    # left: .5, 0, .25, .25; the nucleus is the first two
    expected = {"leak": 0.2 + 0.25, "kept": 0.5, "reach": 0.6 / 0.95, "impossible": 0.25, "size": 3}
    assert measures == pytest.approx(expected)


@given(st.integers(0, 1000))
def test_leak_is_the_metric_and_what_is_kept_is_bounded_by_the_nucleus(seed):
    p, q, generator = drawn(seed), drawn(seed + 1), np.random.default_rng(seed)
    keep = (generator.random(q.shape) < 0.5) | (np.arange(30) == q.argmax(axis=1)[:, None])
    measures = plane_of(p).measures(q, keep)
    assert measures["leak"] == pytest.approx(tto(renormalised(q, keep), p, 0.9))
    assert (measures["kept"] <= plane_of(p).mass + 1e-12).all()
    assert (measures["kept"] + measures["leak"] <= 1 + 1e-12).all()


def test_in_hindsight_no_threshold_is_better():
    p, q = drawn(3), drawn(4)
    plane = plane_of(p)
    found = {weight: plane.measures(q, keep) for weight, keep in in_hindsight(plane, q, places(q))}
    assert places(np.array([[0.2, 0.5, 0.2, 0.1]])).tolist() == [[1, 0, 2, 3]]  # ties to the first
    for cut in cuts({"top-k": [1, 2, 5], "min-p": [0.5, 0.1], "top-p": [0.5, 0.9]}):
        measures = plane.measures(q, cut.keep(q))
        for weight, best in found.items():
            score = measures["kept"] - weight * measures["leak"]
            assert (score <= best["kept"] - weight * best["leak"] + 1e-9).all()


def test_areas_by_hand():
    leak, kept = np.array([0.4, 0.1, 0.2]), np.array([0.7, 0.5, 0.9])
    assert frontier(leak, kept)[1].tolist() == [0.5, 0.9, 0.9]
    # 0 up to .1, then from .5 to .9 up to .2, then .9
    assert area(leak, kept, 0.3) == pytest.approx((0.1 * 0.7 + 0.1 * 0.9) / 0.3)
    assert area(leak, kept, 0.15) == pytest.approx(0.05 * 0.6 / 0.15)
    assert area(leak, kept, 0.1) == 0


@given(arrays(float, (6, 2), elements=st.floats(0, 1)), st.floats(0.01, 1), st.floats(0, 1), st.floats(0, 1))
def test_another_setting_never_takes_area_from_a_frontier_that_it_leaves(points, limit, leak, kept):
    whole = area(*points.T, limit)
    assert 0 <= whole <= 1 + 1e-12
    above_all = np.append(points[:, 1], max(kept, points[:, 1].max()))
    assert area(np.append(points[:, 0], leak), above_all, limit) >= whole - 1e-12


def test_a_gain_of_nothing_is_none_and_a_plain_one_is_seen():
    draws = np.random.default_rng(0).normal(0.2, 0.01, 1000)
    clear = gain(0.2, draws, 50)
    assert clear["p"] < 1e-6
    assert clear["low"] < 0.2 < clear["high"]
    assert gain(0.0, np.zeros(10), 50)["p"] == 1


def test_draws_are_means_over_windows():
    sums, count = np.array([[[2.0]], [[9.0]]]), np.array([1.0, 3.0])
    resampled = Resampled(sums, count, 50, 0)
    assert resampled.means.item() == 11 / 4
    assert set(np.round(resampled.drawn.ravel(), 9)) <= {2.0, 2.75, 3.0}
    assert len(Resampled(sums[:1], count[:1], 50, 0).drawn) == 0


def test_bat_leaves_the_most_probable_token():
    q = drawn(6, n=5, v=8)
    kept = {cut.parameter: keep for cut, keep in of_bat(prepare(np.ones((8, 1))), q, [0.2, 3.0])}
    assert all(keep[np.arange(5), q.argmax(axis=1)].all() for keep in kept.values())
    assert kept[3.0].sum() <= kept[0.2].sum()
