"""n-gram counts and matrices against a dictionary of tuples; singular values and W-error against NumPy's SVD."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from oversmoothing.jobs import UserError
from oversmoothing.numerics.singular_values import effective_rank
from studies.language_dimensionality.measure import spectrum, w_error
from studies.language_dimensionality.ngrams import conditional_rows, count_contexts, count_ngrams


def counted(tokens, n):
    return Counter(tuple(tokens[i : i + n].tolist()) for i in range(len(tokens) - n + 1))


@given(
    st.sampled_from([(256, np.uint8), (50_257, np.uint32), (3, np.uint16)]),
    st.integers(2, 9),
    st.integers(1, 40),
    st.integers(0, 2**32 - 1),
    st.integers(9, 200),
)
def test_counts_are_those_of_a_dictionary_whatever_the_block(vocabulary, n, block, seed, size):
    """From v^n beyond 64 bits on (50,257 tokens, n of 5) contexts are numbered first: the same counts."""
    v, kind = vocabulary
    draw = np.random.default_rng(seed)
    tokens = draw.choice(draw.integers(0, v, 3), size).astype(kind)
    keys, counts = count_ngrams(tokens, n, v, block)
    expected = counted(tokens, n)
    assert np.all(keys[1:] > keys[:-1])
    assert sorted(counts.tolist()) == sorted(expected.values())
    followers = Counter((gram[:-1]) for gram in expected)
    assert sorted(np.unique(keys // np.uint64(v), return_counts=True)[1].tolist()) == sorted(followers.values())
    assert count_contexts(keys, v) == len(followers)


@pytest.mark.parametrize(("v", "n"), [(256, 3), (256, 8), (256, 9), (5000, 6)])
@pytest.mark.parametrize("entries", [1, 7, 10_000])
def test_rows_are_the_conditional_distributions_in_the_order_of_the_contexts(v, n, entries):
    tokens = np.random.default_rng(0).choice([1, 2, 200], 300).astype(np.uint16)
    expected = counted(tokens, n)
    contexts = sorted({gram[:-1] for gram in expected})
    dense = np.zeros((len(contexts), v))
    for gram, times in expected.items():
        dense[contexts.index(gram[:-1]), gram[-1]] = times
    dense /= dense.sum(axis=1, keepdims=True)
    blocks = list(conditional_rows(*count_ngrams(tokens, n, v, block=64), v, entries))
    np.testing.assert_allclose(np.concatenate([block.toarray() for block in blocks]), dense, rtol=1e-14)
    assert all(block.nnz <= entries or block.shape[0] == 1 for block in blocks)


def test_a_shuffled_text_keeps_its_contexts_and_its_tokens():
    tokens = np.random.default_rng(0).choice(40, 20_000)
    tokens[1::2] = (tokens[::2] * 7 + 3) % 40
    text, shuffled = count_ngrams(tokens, 4, 40), count_ngrams(tokens, 4, 40, shuffle=np.random.default_rng(1))
    assert len(shuffled[0]) > len(text[0])
    for part in (np.floor_divide, np.remainder):
        counts = (np.bincount(part(keys, 40).astype(int), times, 40**3) for keys, times in (text, shuffled))
        np.testing.assert_array_equal(*counts)


def test_a_text_shorter_than_the_context_is_named():
    with pytest.raises(UserError, match=r"language\.contexts.*4 tokens.*need 5.*has 4"):
        count_ngrams(np.zeros(4, np.uint8), 5, 256)


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
