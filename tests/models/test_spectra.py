"""Truncated heads, effective ranks, counts of singular values."""

import numpy as np
import pytest
from safetensors.numpy import save_file
from scipy.linalg import eigvalsh, svd
from scipy.stats import entropy, ortho_group

from oversmoothing.jobs import UserError
from oversmoothing.models.spectra import read_head, truncate
from oversmoothing.numerics.layer_norm import behind_norm
from oversmoothing.numerics.singular_values import count_above, effective_rank, singular_values

W = np.random.default_rng(0).normal(size=(256, 40)) @ np.diag(np.linspace(3, 0.1, 40))


@pytest.mark.parametrize("rank", [1, 39])
def test_is_the_best_approximation_of_its_rank(rank):
    low = truncate(W, rank)
    assert np.linalg.matrix_rank(low) == rank
    tail = svd(W, compute_uv=False)[rank:]
    assert np.linalg.norm(W - low) == pytest.approx(np.sqrt((tail**2).sum()))
    np.testing.assert_array_equal(truncate(W, 39 + rank), W)
    with pytest.raises(ValueError, match="rank 0"):
        truncate(W, 0)


def test_reads_the_head_alone(tmp_path):
    path = tmp_path / "weights.safetensors"
    head = W.astype(np.float32)
    save_file({"head.weight": head, "embedding.weight": head[:2]}, path)
    np.testing.assert_array_equal(read_head(path), head)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UserError, match=r"weights\.safetensors: not a complete safetensors file"):
        read_head(path)
    save_file({"other": np.zeros(3)}, path)
    with pytest.raises(UserError, match=r"weights\.safetensors: no head\.weight in it; delete it and run again"):
        read_head(path)


def test_two_values_by_hand():
    expected = np.exp(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)))
    assert effective_rank(np.diag([3.0, 1.0])) == pytest.approx(expected)
    assert effective_rank(np.diag([3.0, 0.0, 1.0])) == pytest.approx(expected)
    assert [count_above(np.diag([3.0, 1.0]), share) for share in (0, 0.33, 0.34)] == [2, 2, 1]
    assert count_above(np.diag([4.0, 1.0]), 0.25) == 1  # above, not at


def test_effective_rank_is_that_of_the_eigenvalues_of_the_gram_matrix():
    matrix = np.random.default_rng(0).normal(size=(30, 12)) * np.geomspace(1, 0.01, 12)
    sigma = np.sqrt(eigvalsh(matrix.T @ matrix))
    assert effective_rank(matrix) == pytest.approx(np.exp(entropy(sigma)), rel=1e-6)
    for share in (0.5, 0.1, 0.02):
        assert count_above(matrix, share) == sum(value > share * max(sigma) for value in sigma)
    assert effective_rank(np.zeros((3, 4))) == count_above(np.zeros((3, 4)), 0.01) == 0


@pytest.mark.parametrize("scale", [1e-160, -7, 1e300])
def test_scale_and_rotation_change_nothing(scale):
    draw = np.random.default_rng(3)
    matrix = draw.normal(size=(20, 6)) * [1, 0.5, 0.2, 0.1, 0.05, 0.001]
    left, right = (ortho_group.rvs(n, random_state=draw) for n in matrix.shape)
    for other in (scale * matrix, left @ matrix @ right, matrix.T, matrix[::-1, ::-1]):
        assert effective_rank(other) == pytest.approx(effective_rank(matrix), rel=1e-9)
        assert count_above(other, 0.07) == count_above(matrix, 0.07)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.empty((0, 4)), r"shape \(0, 4\)"),
        (np.array([[1, -np.inf]]), "infinite"),
        (np.array([1.0, -0.5]), "-0.5 is negative"),
    ],
)
def test_what_has_no_singular_values(matrix, message):
    for function in (singular_values, effective_rank, lambda matrix: count_above(matrix, 0.1)):
        with pytest.raises(ValueError, match=message):
            function(matrix)
    with pytest.raises(ValueError, match="share"):
        count_above(W, np.nan)


def test_the_head_behind_a_norm_is_the_matrix_of_the_thesis():
    gain = np.random.default_rng(4).uniform(-2, 2, 40)
    projected = behind_norm(W, gain)
    np.testing.assert_allclose(projected, W @ np.diag(gain) @ (np.eye(40) - np.ones((40, 40)) / 40))
    assert np.linalg.matrix_rank(projected) == 39
    x = np.random.default_rng(5).normal(size=(6, 40))
    x -= x.mean(axis=1, keepdims=True)
    np.testing.assert_allclose((x * gain) @ W.T, x @ projected.T)
    with pytest.raises(ValueError, match=r"gain of shape \(1,\)"):
        behind_norm(W, gain[:1])
