"""Memories of a text against distributions worked by hand and written another way."""

from collections import Counter

import numpy as np
import pytest

from studies.real_head.memories import (
    Passage,
    merged,
    nearest,
    neighbours,
    neural,
    ngram,
    probability,
    spread,
    squared_distances,
)


def passage(tokens, width=3, seed=0):
    states = np.random.default_rng(seed).normal(size=(len(tokens) - 1, width)).astype(np.float32)
    return Passage(np.array(tokens), states)


def test_the_cache_weighs_what_followed_nearer_states_more():
    own = Passage(np.array([7, 1, 2, 1, 3]), np.array([[0.0], [1.0], [3.0], [2.0]], np.float32))
    distances = squared_distances(own.states, own.states, 2.0)
    first, second, third, fourth = neural(own, distances, 0.5)
    assert len(first[0]) == 0  # nothing is remembered yet
    assert second[0].tolist() == [1]  # the state at 0 was followed by token 1
    weights = np.exp(-0.5 * np.array([9.0, 4.0]) / 2)
    np.testing.assert_allclose(third[1], weights / weights.sum(), rtol=1e-6)
    # At 2: the states 0, 1, 3 were followed by the tokens 1, 2, 1, and token 1 has the sum of two weights.
    weights = np.exp(-0.5 * np.array([4.0, 1.0, 1.0]) / 2)
    assert fourth[0].tolist() == [1, 2]
    np.testing.assert_allclose(fourth[1], np.array([weights[0] + weights[2], weights[1]]) / weights.sum(), rtol=1e-6)


def test_the_cache_of_another_past_knows_nothing_of_its_own():
    own, past = passage([5, 6, 7, 8]), passage([1, 2, 3, 4], seed=1)
    distances = squared_distances(own.states, past.states, 1.0)
    assert [tokens.tolist() for tokens, _ in neural(own, distances, 1.0, past)] == [[], [2], [2, 3]]


def witten_bell(read, order=5):
    """Distribution after the tokens `read`, by recursion over n-grams counted anew."""

    def after(context):
        counts = Counter(
            read[i + len(context)] for i in range(len(read) - len(context)) if read[i : i + len(context)] == context
        )
        if not context:
            return {token: count / counts.total() for token, count in counts.items()}
        below = after(context[1:])
        if not counts:
            return below
        total, kinds = counts.total(), len(counts)
        return {t: (counts[t] + kinds * share) / (total + kinds) for t, share in below.items()}

    return after(read[max(0, len(read) - order + 1) :])


@pytest.mark.parametrize("seed", range(3))
def test_ngrams_are_interpolated_as_witten_and_bell_do(seed):
    tokens = np.random.default_rng(seed).integers(0, 3, 40).tolist()
    for position, (found, weights) in enumerate(ngram(passage(tokens))):
        expected = witten_bell(tokens[: position + 1])
        assert weights.sum() == pytest.approx(1)
        assert dict(zip(found.tolist(), weights, strict=True)) == pytest.approx(expected)


def test_neighbours_are_those_of_a_plain_search():
    own, others = passage([0] * 6), passage(list(range(41)), seed=1)
    near = nearest(own, others, 1.0, 5)
    for state, (tokens, weights) in zip(own.states, neighbours(*near, 2.0), strict=True):
        far = ((state - others.states) ** 2).sum(axis=1)
        place = np.argsort(far)[:5]
        expected = np.exp(-2.0 * far[place]) / np.exp(-2.0 * far[place]).sum()
        order = np.argsort(others.next[place])
        assert tokens.tolist() == others.next[place][order].tolist()
        np.testing.assert_allclose(weights, expected[order], rtol=1e-4)


def test_fewer_states_than_neighbours():
    assert nearest(passage([1, 2, 3]), passage([4, 5, 6, 7]), 1.0, 64)[0].shape == (2, 3)


def test_tokens_are_merged_and_looked_up():
    memory = merged(np.array([3, 1, 3]), np.array([0.5, 0.2, 0.3]))
    assert [probability(memory, token) for token in (1, 2, 3)] == pytest.approx([0.2, 0, 0.8])
    assert np.isnan(probability((np.empty(0, int), np.empty(0)), 1))


def test_the_spread_is_the_mean_over_all_pairs():
    states = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    assert spread(states) == pytest.approx(squared_distances(states, states, 1.0).mean(), rel=1e-5)
