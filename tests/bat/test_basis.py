"""What a head fixes: the span of [W, 1], and behind a LayerNorm its tangent space."""

import numpy as np
import pytest

from oversmoothing.bat.basis import prepare, prepare_tangent
from oversmoothing.bat.linear_programs import reject_set_by_linear_programs
from oversmoothing.bat.reject import reject_set
from oversmoothing.scores.probabilities import softmax


def norm(z, gain):
    """A LayerNorm without bias or epsilon."""
    return gain * (z - z.mean(axis=1, keepdims=True)) / z.std(axis=1, keepdims=True)


@pytest.fixture
def layer():
    generator = np.random.default_rng(2)
    weights, gain = generator.normal(size=(40, 6)), generator.uniform(0.5, 2, size=6)
    z = generator.normal(size=(5, 6))
    return weights, gain, z, norm(z, gain)


def test_the_basis_is_orthonormal_and_spans_the_head_and_the_ones():
    weights = np.random.default_rng(0).normal(size=(30, 4))
    columns = prepare(weights).columns
    assert columns.shape == (30, 5)
    np.testing.assert_allclose(columns.T @ columns, np.eye(5), atol=1e-14)
    both = np.concatenate([weights, np.ones((30, 1))], axis=1)
    np.testing.assert_allclose(columns @ (columns.T @ both), both, atol=1e-12)


def test_dependent_columns_count_once_and_constant_ones_not_at_all():
    weights = np.random.default_rng(0).normal(size=(30, 2))
    wide = np.concatenate([weights, weights @ [[1.0], [2.0]], np.full((30, 1), 7.0)], axis=1)
    assert prepare(wide).columns.shape == (30, 3)
    assert prepare(np.zeros((30, 2))).columns.shape == (30, 1)


def test_the_tangent_constraints_are_the_jacobians(layer):
    """Their span is that of W J and 1, J the Jacobian of the LayerNorm by finite differences."""
    weights, gain, z, post = layer
    basis = prepare_tangent(weights, gain)
    for i, normal in enumerate(basis.normals(post)):
        step = 1e-6 * np.eye(6)
        jacobian = (norm(z[i] + step, gain) - norm(z[i] - step, gain)) / 2e-6  # row k: dh / dz_k
        kept = basis.columns @ (np.eye(len(normal)) - np.outer(normal, normal))
        fixed = np.linalg.svd(np.concatenate([weights @ jacobian.T, np.ones((40, 1))], axis=1))
        rank = int((fixed.S > 1e-6).sum())
        assert rank == 5  # 6 less the mean, less the norm, and the ones
        ours = np.linalg.svd(kept)
        np.testing.assert_allclose(ours.S[:rank], 1, atol=1e-9)
        np.testing.assert_allclose(ours.S[rank:], 0, atol=1e-9)
        angles = np.linalg.svd(fixed.U[:, :rank].T @ ours.U[:, :rank], compute_uv=False)
        np.testing.assert_allclose(angles, 1, atol=1e-6)


def test_tangent_sets_equal_linear_programs_on_the_projected_head(layer):
    weights, gain, _, post = layer
    p = softmax(post @ weights.T)
    sets = reject_set(prepare_tangent(weights, gain), p, post=post)
    for i in range(len(p)):
        n = post[i] / gain
        free = np.linalg.svd(np.stack([np.ones(6), n]))[2][2:]  # orthogonal to 1 and n
        expected = reject_set_by_linear_programs((weights * gain) @ free.T, p[i])
        np.testing.assert_array_equal(sets.rejected[i], expected)


@pytest.mark.parametrize(("rank", "rejects"), [(39, True), (40, True), (41, False), (48, False)])
def test_full_rank_behind_a_layernorm_needs_two_dimensions_more(rank, rejects):
    """Over 40 tokens: r - 2 directions and the ones are 40 constraints from r = 41 on."""
    generator = np.random.default_rng(rank)
    weights, gain = generator.normal(size=(40, rank)), np.ones(rank)
    post = norm(generator.normal(size=(4, rank)), gain)
    p = softmax(post @ weights.T / np.sqrt(rank))
    assert (reject_set(prepare_tangent(weights, gain), p, 1.0, post=post).mass[0] > 0).any() == rejects


def test_a_tangent_basis_wants_the_hidden_states_and_the_full_one_does_not(layer):
    weights, gain, _, post = layer
    p = softmax(post @ weights.T)
    for given, shape in ((None, r"\(0, 0\)"), (post[:3], r"\(3, 6\)")):
        with pytest.raises(ValueError, match=rf"needs finite post of shape \(5, 6\), not {shape}"):
            reject_set(prepare_tangent(weights, gain), p, post=given)
    with pytest.raises(ValueError, match="does not depend on it"):
        reject_set(prepare(weights), p, post=post)


@pytest.mark.parametrize(
    ("weights", "gain", "message"),
    [
        (np.ones(5), np.ones(2), r"weights \(5,\) must be a matrix"),
        ([[1, 1], [1, np.nan]], [1, 1], "row 1 has NaN or infinity"),
        ([[1, 1], [1, np.inf]], [1, 1], "row 1 has NaN or infinity"),
        (np.ones((5, 2)), [1, np.nan], r"gain \(2,\)"),
        (np.ones((5, 2)), [1, np.inf], r"gain \(2,\)"),
        (np.ones((5, 2)), [1, 1, 1], r"gain \(3,\)"),
        (np.ones((5, 2)), [1, 0], "not 0"),  # h = gain * n would not tell n
    ],
)
def test_what_is_no_head_or_no_gain_is_named(weights, gain, message):
    with pytest.raises(ValueError, match=message):
        prepare_tangent(weights, gain)
    if "gain" not in message and message != "not 0":
        with pytest.raises(ValueError, match=message):
            prepare(weights)


def test_columns_that_hardly_differ_are_one(monkeypatch):
    """The example of docs/bat.md: 1.2e-10 is below what counts, so a constraint is dropped and more is rejected."""
    generator = np.random.default_rng(0)
    weights = generator.normal(size=(40, 4))
    weights[:, 3] = weights[:, 2] + 1.2e-10 * generator.normal(size=40)
    p = softmax((weights[:, :3] @ generator.normal(size=3))[None])
    assert prepare(weights).columns.shape == (40, 4)
    assert reject_set(prepare(weights), p).mass[0][0] == pytest.approx(0.653, abs=5e-4)
    monkeypatch.setattr("oversmoothing.bat.basis.RANK_TOLERANCE", 1e-14)
    assert prepare(weights).columns.shape == (40, 5)
    assert reject_set(prepare(weights), p).mass[0][0] == pytest.approx(0.570, abs=5e-4)


def test_twins_are_rows_that_are_equal_and_not_rows_with_an_equal_sum():
    weights = np.random.default_rng(0).normal(size=(7, 3))
    assert prepare(weights).twins is None
    weights[[4, 6]] = weights[1]
    weights[5] = weights[2][::-1]
    assert prepare(weights).twins.tolist() == [0, 1, 2, 3, 1, 5, 1]
    assert prepare_tangent(weights, np.ones(3)).twins.tolist() == [0, 1, 2, 3, 1, 5, 1]
