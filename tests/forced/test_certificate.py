"""What is proved of a head holds to the last digit: by hand, in 60 digits, and at points that are not nearest."""

import numpy as np
import pytest
from forced_truths import BY_HAND, beside_a_face, spectrum, to_sixty_digits, truths
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import rel_entr, softmax

from oversmoothing.forced.certificate import certify
from oversmoothing.forced.head import prepare
from oversmoothing.forced.projection import project, project_on


@pytest.mark.parametrize(("weights", "p", "nearest"), BY_HAND)
def test_on_a_face_or_near_one_by_hand(weights, p, nearest):
    weights, p = np.array(weights, float), np.array(p, float)
    found = project(weights, p)
    proved = certify(weights, p, found)
    assert 0 <= proved[0] <= 1e-12
    assert found.forced[0] - proved[0] <= rel_entr(p, nearest).sum() + 1e-16


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 3), st.floats(-4, -1), st.floats(-20, -4))
def test_beside_a_face_it_holds_the_value_of_sixty_digits(seed, r, eta, tiny):
    weights, p, _ = beside_a_face(seed, r, 10**eta, 10**tiny)
    head, nearest = prepare(weights), project(weights, p)
    proved = certify(head, p, nearest)
    assert proved[0] <= 1e-8
    exact = (
        to_sixty_digits(head.columns, p),
        to_sixty_digits(weights, p),
    )  # which rounding of rows on the face tells apart
    assert nearest.forced[0] - proved[0] <= max(exact) + 1e-13


@pytest.mark.parametrize("tolerance", [10.0, 0.1, 1e-3, 1e-15])
@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_it_holds_wherever_the_search_ends(tolerance, zeros):
    rng = np.random.default_rng(1)
    head = prepare(spectrum(rng, 60, 3), rng.normal(size=60))
    p = truths(rng, 20, 60) * (rng.random(60) >= zeros)
    p /= p.sum(axis=1, keepdims=True)
    nearest = project_on(head, p, np.full(p.shape, -np.log(60)), tolerance)
    least = nearest.forced - certify(head, p, nearest)
    assert (least <= project_on(head, p).forced + 1e-13).all()
    assert tolerance > 1e-3 or (least >= nearest.forced - 2 * tolerance - 1e-13).all()


@pytest.mark.slow
@pytest.mark.parametrize("r", [3, 7])
def test_of_sharp_truths_it_holds_the_value_of_sixty_digits(r):
    rng = np.random.default_rng(r)
    weights, logits = spectrum(rng, 256, r), 9 * rng.normal(size=(4, 40)) @ spectrum(rng, 256, 40).T / 7
    p = softmax(logits, axis=1) * (rng.random(256) >= 0.3)
    p /= p.sum(axis=1, keepdims=True)
    head = prepare(weights)
    nearest = project_on(head, p)
    proved = certify(head, p, nearest)
    assert (proved <= 1e-12).all()
    assert (nearest.forced - proved <= [to_sixty_digits(head.columns, row) for row in p]).all()


def test_over_a_large_vocabulary():
    rng = np.random.default_rng(2)
    head = prepare(spectrum(rng, 3000, 30))
    p = softmax(rng.normal(size=(4, 60)) @ spectrum(rng, 3000, 60).T, axis=1)
    assert (certify(head, p, project_on(head, p)) <= 1e-12).all()


def test_a_head_of_full_rank_and_what_does_not_match():
    p = np.array([[0.5, 0.2, 0.3]])
    nearest = project(np.eye(3), p)
    assert (certify(np.eye(3), p, nearest) == 0).all()
    with pytest.raises(ValueError, match="a row for each of 1"):
        certify(np.eye(3), np.repeat(p, 2, axis=0), nearest)
