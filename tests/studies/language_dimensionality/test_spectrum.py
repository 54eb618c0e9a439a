"""Singular values and W-error against NumPy's SVD, and a language of known rank."""

from bisect import bisect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from oversmoothing.numerics.singular_values import effective_rank
from studies.language_dimensionality.ngrams import conditional_rows, count_ngrams
from studies.language_dimensionality.spectrum import Spectrum, spectrum, w_error


def written(rows, size):
    """Write a text in which the rows say what follows each token."""
    steps = np.cumsum(rows, axis=1).tolist()
    tokens = [0]
    for uniform in np.random.default_rng(0).random(size - 1).tolist():
        tokens.append(min(bisect(steps[tokens[-1]], uniform), len(steps) - 1))
    return np.array(tokens)


def direct_error(matrix):
    sigma = np.linalg.svd(matrix, compute_uv=False)
    sigma = np.append(sigma, np.zeros(matrix.shape[1] - len(sigma)))
    return np.array([np.linalg.norm(sigma[d:]) for d in range(len(sigma) + 1)]) / np.linalg.norm(matrix)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(20, 300))
def test_values_and_errors_of_a_text_are_those_of_a_direct_svd(seed, context, size):
    tokens = np.random.default_rng(seed).geometric(0.15, size).clip(max=40).astype(np.uint8)
    blocks = list(conditional_rows(*count_ngrams(tokens, context + 1, 256), 256, entries=16))
    matrix = np.concatenate([block.toarray() for block in blocks])
    found = spectrum(blocks, 256, largest=3)
    sigma = np.linalg.svd(matrix, compute_uv=False)
    np.testing.assert_allclose(found.values[: len(sigma)], sigma[:256], atol=1e-6 * sigma[0])
    np.testing.assert_allclose(w_error(found), direct_error(matrix), atol=2e-6)
    assert effective_rank(found.values) == pytest.approx(effective_rank(matrix), rel=1e-4)


def test_the_largest_of_a_large_vocabulary_are_those_of_the_exact_way():
    draw = np.random.default_rng(0)
    matrix = csr_array(draw.random((500, 90)) * (draw.random((500, 90)) < 0.1))
    every = spectrum([matrix[:200], matrix[200:]], 90, largest=20)
    some = spectrum([matrix[:200], matrix[200:]], 90, largest=20, exact=50)
    assert every.complete
    assert not some.complete
    assert len(some.values) == 20
    np.testing.assert_allclose(some.values, every.values[:20], rtol=1e-9)
    np.testing.assert_allclose(w_error(some), w_error(every)[:21], rtol=1e-9)


def test_w_error_by_hand():
    errors = w_error(Spectrum(np.array([4.0, 2.0, 2.0]), 1.0, False))
    np.testing.assert_allclose(errors, [1, 3 / 5, np.sqrt(5) / 5, 1 / 5])


@pytest.mark.parametrize("rank", [2, 5])
@pytest.mark.parametrize("exact", [4096, 8])
def test_the_rank_of_a_synthetic_language_is_recovered(rank, exact):
    """P(next | context) = A B of inner dimension r: after r dimensions only the noise of sampling is left."""
    draw, v = np.random.default_rng(rank), 24
    topics = draw.dirichlet(np.full(v, 0.3), rank)  # B (r, v)
    mixtures = draw.dirichlet(np.full(rank, 0.3), v)  # A (v, r): the context is one token
    tokens = written(mixtures @ topics, 200_000)
    keys, counts = count_ngrams(tokens, 2, v)
    errors = w_error(spectrum(conditional_rows(keys, counts, v), v, largest=v - 1, exact=exact))
    # A row seen m times has a sampling variance of at most 1 / m: what is expected of ||W - AB||_F.
    seen = np.bincount(tokens[:-1], minlength=v)
    noise = np.sqrt((1 / seen[seen > 0]).sum()) / np.linalg.norm(mixtures @ topics)
    assert errors[rank] < noise
    assert errors[rank - 1] > 2 * noise
    # Tails of singular values move by ||W - AB||_F at most, and so does the norm that they are a share of.
    np.testing.assert_allclose(errors, direct_error(mixtures @ topics)[: len(errors)], atol=2 * noise)
