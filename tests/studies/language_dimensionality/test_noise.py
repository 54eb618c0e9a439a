"""The W-error without the noise of sampling: on languages of known rank, in texts where most contexts are rare."""

import numpy as np
import pytest

from studies.language_dimensionality.ngrams import conditional_rows, count_contexts, count_ngrams
from studies.language_dimensionality.noise import ENOUGH, without_noise
from studies.language_dimensionality.spectrum import spectrum, w_error

V, CONTEXTS = 96, 20_000
NOTICEABLE = 0.1


def language(rank, occurrences, seed=0):
    """Return n-grams of a language of known rank whose contexts follow Zipf's law, and its true rows."""
    draw = np.random.default_rng((rank, seed))
    topics = draw.dirichlet(np.full(V, 0.1), rank)
    mixtures = draw.dirichlet(np.full(rank, 0.1), CONTEXTS)
    zipf = 1 / np.arange(1, CONTEXTS + 1)
    contexts = draw.choice(CONTEXTS, occurrences, p=zipf / zipf.sum())
    chosen = (draw.random((occurrences, 1)) > np.cumsum(mixtures, axis=1)[contexts, :-1]).sum(axis=1)
    tokens = np.zeros(occurrences, np.int64)
    for topic, law in enumerate(topics):
        tokens[chosen == topic] = draw.choice(V, (chosen == topic).sum(), p=law)
    keys, counts = np.unique((contexts * V + tokens).astype(np.uint64), return_counts=True)
    return keys, counts, mixtures @ topics


def noise_free(keys, counts, seen, **how):
    return without_noise(keys, counts, V, V, seen, np.random.default_rng(1), **how)


def dimensions(errors):
    """Count the dimensions after which less than a tenth is lost."""
    return 1 + int(np.argmax(errors < NOTICEABLE))


def true_error(rows):
    sigma = np.linalg.svd(rows, compute_uv=False) ** 2
    return np.sqrt(np.clip(1 - np.cumsum(sigma) / sigma.sum(), 0, 1))


@pytest.mark.parametrize("rank", [1, 3, 20])
def test_the_rank_of_a_language_is_found_where_the_w_error_as_counted_sees_noise(rank):
    keys, counts, rows = language(rank, 400_000)
    found = noise_free(keys, counts, 8)
    assert dimensions(found.low) <= dimensions(true_error(rows)) <= rank
    assert dimensions(found.low) > 0.7 * rank
    if rank < 20:  # what half of the text tells of the others is too little to end there
        assert dimensions(found.held_out) == rank
    counted = w_error(spectrum(conditional_rows(keys, counts, V), V, V))[1:]
    assert dimensions(counted) > rank + 20


@pytest.mark.parametrize("rank", [1, 3, 20, 60])
@pytest.mark.parametrize("occurrences", [20_000, 200_000])
@pytest.mark.parametrize("seen", [2, 8])
def test_the_interval_covers_the_truth(rank, occurrences, seen):
    """Which contexts are seen often enough differs from draw to draw; their true rows are known here."""
    keys, counts, rows = language(rank, occurrences, seed=seen)
    found = noise_free(keys, counts, seen)
    totals = np.bincount((keys // np.uint64(V)).astype(np.int64), counts, minlength=CONTEXTS)
    truth = true_error(rows[totals >= 2 * seen])
    slack = 0.03  # the contexts of `found` are among these
    assert np.mean((found.low - slack <= truth) & (truth <= found.high + slack)) > 0.95
    assert found.contexts >= ENOUGH
    assert np.all(found.low <= found.high)


def test_more_noise_finds_no_more_dimensions():
    few, some, many = (
        dimensions(noise_free(*language(20, size)[:2], seen=2).low) for size in (10_000, 50_000, 250_000)
    )
    assert few <= some <= many <= 20


def test_a_shuffled_text_looks_the_same_as_counted_and_has_one_dimension():
    """Contexts stay as they are, tokens too, and nothing of the structure is left."""
    draw = np.random.default_rng(0)
    tokens = draw.choice(40, 200_000, p=1 / np.arange(1, 41) / np.sum(1 / np.arange(1, 41)))
    tokens[1::2] = (tokens[::2] * 7 + 3) % 40
    text = count_ngrams(tokens, 4, 40)
    shuffled = count_ngrams(tokens, 4, 40, shuffle=np.random.default_rng(1))
    assert count_contexts(text[0], 40) == count_contexts(shuffled[0], 40)
    for part in (np.floor_divide, np.remainder):
        counted = (np.bincount(part(keys, 40).astype(int), times, 40**3) for keys, times in (text, shuffled))
        np.testing.assert_array_equal(*counted)
    counted = w_error(spectrum(conditional_rows(*shuffled, 40), 40, 40))
    assert counted[10] > 0.4
    found, of_text = (without_noise(*counts, 40, 40, 8, np.random.default_rng(2)) for counts in (shuffled, text))
    assert np.all(found.low == 0)
    assert np.all(found.high < 0.3)
    assert of_text.low[9] > 0.4


def test_above_so_many_tokens_the_first_dimensions_come_out_alike():
    keys, counts, _ = language(5, 100_000)
    every = noise_free(keys, counts, 4)
    some = without_noise(keys, counts, V, 12, 4, np.random.default_rng(1), exact=50)
    assert len(some.low) == 12
    assert some.contexts == every.contexts
    for a, b in zip(some[:3], every[:3], strict=True):
        # Behind the fifth there is noise alone, in which float32 finds other directions than float64.
        np.testing.assert_allclose(a[:5], b[:5], atol=2e-3)


def test_nothing_is_said_of_few_contexts_or_of_contexts_that_nothing_follows_twice():
    keys, counts, _ = language(3, 100)
    found = noise_free(keys, counts, 2)
    assert found.contexts < ENOUGH
    assert np.isnan([found.held_out, found.low, found.high]).all()
    # Each token once after each context: no pair agrees, so that no length can be estimated.
    keys = (np.arange(50)[:, np.newaxis] * V + np.arange(20)).ravel().astype(np.uint64)
    found = noise_free(keys, np.ones(len(keys), np.int64), 2)
    assert np.all(found.low == 0)
    assert np.all(found.high == 1)
