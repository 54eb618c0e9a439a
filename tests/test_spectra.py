"""Truncated heads."""

import numpy as np
import pytest
from safetensors.numpy import save_file
from scipy.linalg import svd

from oversmoothing.jobs import UserError
from oversmoothing.spectra import read_head, truncate

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


def test_reads_the_head_alone(tmp_path):
    path = tmp_path / "weights.safetensors"
    head = W.astype(np.float32)
    save_file({"head.weight": head, "embedding.weight": head[:2]}, path)
    np.testing.assert_array_equal(read_head(path), head)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UserError, match=r"weights\.safetensors: no complete weights with a head"):
        read_head(path)


def test_weights_without_a_head(tmp_path):
    save_file({"other": np.zeros(3)}, tmp_path / "w.safetensors")
    with pytest.raises(UserError, match="no complete weights with a head"):
        read_head(tmp_path / "w.safetensors")
