"""Singular values and W-error against NumPy's SVD."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from oversmoothing.numerics.singular_values import effective_rank
from studies.language_dimensionality.measure import Spectrum, spectrum, w_error
from studies.language_dimensionality.ngrams import conditional_rows, count_ngrams


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
