"""Directions, distances, axes and spectrum of a head: cases solved by hand, and NumPy's SVD of the matrix."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oversmoothing.measures.entries.spectrum import head_spectrum
from oversmoothing.models import head_rows
from oversmoothing.models.head_rows import distances, leading_directions, moments, orthonormal, semi_axes

CROSS = np.array([[3.0, 1], [-1, 1], [1, 2], [1, 0]])  # mean (1, 1): arms of length 2 and 1


def test_axes_of_the_cross_by_hand():
    """Behind an RMSNorm the sphere has the radius sqrt(2); a LayerNorm leaves of it (1, -1) and (-1, 1)."""
    of = moments(CROSS)
    np.testing.assert_allclose(semi_axes(of, np.ones(2), False), [4, 2])
    np.testing.assert_allclose(semi_axes(of, np.array([1.0, -6]), False), [12, 4])
    point = (CROSS - [1, 1]) @ [1, -1]
    np.testing.assert_allclose(semi_axes(of, np.ones(2), True), [np.linalg.norm(point)])
    np.testing.assert_allclose(semi_axes(of, np.array([0.0, 1]), False), [2])  # a column without effect has no axis
    assert len(semi_axes(moments(np.ones((3, 2))), np.ones(2), False)) == 0


@pytest.mark.parametrize("v", [5, 40])
def test_values_are_those_of_the_svd(v, monkeypatch):
    monkeypatch.setattr(head_rows, "ROWS", 7)
    draw = np.random.default_rng(v)
    weights = draw.normal(size=(v, 9)).astype(np.float32) + draw.normal(size=9)
    centred = weights - weights.mean(axis=0)
    left, sigma, _ = np.linalg.svd(centred, full_matrices=False)
    of = moments(weights)
    shares, coordinates = leading_directions(weights, of, 3)
    np.testing.assert_allclose(shares, (sigma**2 / (sigma**2).sum())[:3])
    furthest = abs(coordinates).argmax(axis=0)
    assert (coordinates[furthest, range(3)] > 0).all()
    np.testing.assert_allclose(abs(coordinates), abs(left[:, :3] * sigma[:3]), atol=1e-9)
    np.testing.assert_allclose(distances(weights, of), np.linalg.norm(centred, axis=1))
    gain = draw.normal(size=9)
    for centres in (False, True):
        onto = np.eye(9) - (1 / 9 if centres else 0)
        expected = np.linalg.svd(centred * gain @ onto, compute_uv=False) * 3
        expected = expected[expected > 1e-5]
        np.testing.assert_allclose(semi_axes(of, gain, centres), expected, rtol=1e-8)
        x = draw.normal(size=(200, 9)) @ onto
        lengths = np.linalg.norm(3 * gain * x / np.linalg.norm(x, axis=1, keepdims=True) @ centred.T, axis=1)
        assert (lengths <= expected[0] * (1 + 1e-12)).all()


def test_the_orthonormal_basis_spans_the_columns_and_the_constant(monkeypatch):
    monkeypatch.setattr(head_rows, "ROWS", 7)
    draw = np.random.default_rng(0)
    weights = draw.normal(size=(40, 9)) * np.geomspace(1, 50, 9) + 5
    basis = orthonormal(weights, moments(weights))
    np.testing.assert_allclose(basis.T @ basis, np.eye(10), atol=1e-9)
    with_ones = np.column_stack([weights, np.ones(40)])
    np.testing.assert_allclose(basis @ (basis.T @ with_ones), with_ones, atol=1e-9)
    dependent = np.column_stack([weights, weights.sum(axis=1)])
    assert orthonormal(dependent, moments(dependent)) is None
    assert orthonormal(weights[:8], moments(weights[:8])) is None


@settings(max_examples=30)
@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 1000))
def test_the_spectrum_is_that_of_numpy(v, d, seed):
    weight = np.random.default_rng(seed).normal(size=(v, d)).astype(np.float32)
    expected = np.linalg.svd(weight.astype(np.float64), compute_uv=False)
    np.testing.assert_allclose(head_spectrum(torch.from_numpy(weight)), expected, atol=1e-7 * expected[0])
    repeated = head_spectrum(torch.from_numpy(weight).repeat(9000 // v, 1))  # in blocks of rows
    np.testing.assert_allclose(repeated[: min(v, d)], expected * (9000 // v) ** 0.5, atol=1e-5 * expected[0])
    with pytest.raises(ValueError, match="a weight of the head is NaN or infinite"):
        head_spectrum(torch.full((v, d), torch.nan))
