"""Anisotropy, singular entropy, a measure at a given loss and the cap of logits, by hand and against direct sums."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.numerics.geometry import Directions, singular_entropy
from oversmoothing.numerics.softcap import softcapped


@given(st.integers(2, 30), st.integers(1, 8), st.integers(0, 1000))
def test_closed_form_anisotropy_is_the_mean_over_pairs(n, d, seed):
    states = np.random.default_rng(seed).normal(0.5, 1, (n, d))
    pairs = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in itertools.combinations(states, 2)]
    directions = Directions()
    for block in np.array_split(states, 3):
        directions.add(block)
    assert directions.anisotropy() == pytest.approx(np.mean(pairs), abs=1e-12)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([[1, 0], [-2, 0]], -1),
        ([[1, 0], [0, 1], [-1, 0], [0, -1]], -1 / 3),
        ([[1, 0], [0, 0], [1, 1]], 1 / math.sqrt(2)),  # a zero has no direction
    ],
)
def test_anisotropy_by_hand(states, expected):
    directions = Directions()
    directions.add(np.array(states))
    assert directions.anisotropy() == pytest.approx(expected, abs=1e-12)


def test_anisotropy_of_nothing_is_unknown_and_of_nan_an_error():
    directions = Directions()
    directions.add(np.zeros((5, 3)))
    assert math.isnan(directions.anisotropy())
    with pytest.raises(ValueError, match="NaN or infinite"):
        directions.add(np.array([[1.0, np.nan]]))


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 1000))
def test_singular_entropy_is_the_divergence_from_uniform(n, m, seed):
    matrix = np.random.default_rng(seed).normal(size=(n, m))
    shares = np.linalg.svd(matrix, compute_uv=False)
    shares /= shares.sum()
    direct = sum(share * math.log(share * len(shares)) for share in shares)
    assert singular_entropy(matrix) == pytest.approx(direct, abs=1e-9)


def test_singular_entropy_by_hand():
    assert singular_entropy(np.eye(7, 4)) == pytest.approx(0, abs=1e-12)
    assert singular_entropy(np.ones((5, 8))) == pytest.approx(math.log(5))
    assert singular_entropy(np.diag([3.0, 1.0])) == pytest.approx(0.75 * math.log(1.5) + 0.25 * math.log(0.5))
    with pytest.raises(ValueError, match="zeros"):
        singular_entropy(np.zeros((3, 3)))


def test_a_value_at_a_loss_lies_between_two_steps():
    assert at_loss([5, 3, 2, 2.5], [0.8, 0.4, 0.2, 0.3], 2.5) == pytest.approx(0.3)
    assert at_loss([5, 3], [0.8, 0.4], 5) == 0.8
    assert math.isnan(at_loss([5, 3], [0.8, 0.4], 2))
    assert math.isnan(at_loss([5, 3], [0.8, 0.4], 6))


def test_a_cap_by_hand():
    """tanh(artanh(1/2)) = 1/2, artanh(1/2) = ln(3) / 2, so of c = 2 the logit ln 3 becomes 1."""
    assert softcapped(np.array([math.log(3), 0.0, -math.log(3)]), 2.0) == pytest.approx([1, 0, -1])


def test_far_below_the_cap_nothing_changes_and_without_one_nothing_at_all():
    z = np.linspace(-1, 1, 9)
    assert softcapped(z, 1e6) == pytest.approx(z, abs=1e-11)
    assert softcapped(z, None) is z


@pytest.mark.parametrize("z", [np.linspace(-9, 9, 99, dtype=np.float32), torch.linspace(-9, 9, 99)])
def test_type_order_and_bounds(z):
    capped = softcapped(z, 5.0)
    assert capped.dtype == z.dtype
    assert (np.diff(np.asarray(capped)) > 0).all()
    assert abs(np.asarray(capped)).max() < 5
