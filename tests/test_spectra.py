"""Truncated heads."""

import numpy as np
import pytest
from scipy.linalg import svd

from oversmoothing.spectra import truncate

W = np.random.default_rng(0).normal(size=(256, 40)) @ np.diag(np.linspace(3, 0.1, 40))


@pytest.mark.parametrize("rank", [1, 4, 39])
def test_is_the_best_approximation_of_its_rank(rank):
    low = truncate(W, rank)
    assert np.linalg.matrix_rank(low) == rank
    tail = svd(W, compute_uv=False)[rank:]
    assert np.linalg.norm(W - low) == pytest.approx(np.sqrt((tail**2).sum()))


@pytest.mark.parametrize("rank", [40, 256, 1000])
def test_full_rank_is_the_head_itself(rank):
    np.testing.assert_array_equal(truncate(W, rank), W)


def test_rank_below_one():
    with pytest.raises(ValueError, match="rank 0"):
        truncate(W, 0)
