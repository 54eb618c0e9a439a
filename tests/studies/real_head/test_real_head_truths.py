"""Memories of a text, mixtures with them and rows of the table, worked by hand, written another way, and by SciPy."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from studies.real_head.choose import Remembered, fitted, mixture
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
from studies.real_head.show import sphere_rows
from studies.real_head.truths import LEVELS, cell, cells, mixed, shares


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


def test_ngrams_are_interpolated_as_witten_and_bell_do():
    tokens = np.random.default_rng(0).integers(0, 3, 40).tolist()
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

    assert nearest(passage([1, 2, 3]), passage([4, 5, 6, 7]), 1.0, 64)[0].shape == (2, 3)  # of fewer states


def test_tokens_are_merged_and_looked_up():
    memory = merged(np.array([3, 1, 3]), np.array([0.5, 0.2, 0.3]))
    assert [probability(memory, token) for token in (1, 2, 3)] == pytest.approx([0.2, 0, 0.8])
    assert np.isnan(probability((np.empty(0, int), np.empty(0)), 1))


def test_the_spread_is_the_mean_over_all_pairs():
    states = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    assert spread(states) == pytest.approx(squared_distances(states, states, 1.0).mean(), rel=1e-5)


def test_shares_are_those_that_scipy_finds():
    table = np.random.default_rng(0).uniform(0.01, 1, size=(200, 3))

    def loss(free):
        part = np.exp(free) / np.exp(free).sum()
        return -np.log(table @ part).sum() - np.log(part[0])

    found = minimize(loss, np.zeros(3), tol=1e-12).x
    np.testing.assert_allclose(shares(table), np.exp(found) / np.exp(found).sum(), atol=2e-4)


def test_cells_count_all_pairs_of_confidences():
    low, high = np.array([0.0, LEVELS[0], 1.0]), np.array([1.0, 0.0, LEVELS[1]])
    assert cell([low, high]).tolist() == [2, 3, cells(2) - 1]


def test_a_mixture_gives_the_next_token_what_its_distribution_gives():
    q = np.array([0.5, 0.3, 0.2])
    memories = {"one": (np.array([2]), np.array([1.0])), "none": (np.empty(0, int), np.empty(0))}
    parts = [{"one": 0.1 * number, "none": 0.05} for number in range(cells(2))]
    number = int(cell([np.array([1.0]), np.array([0.0])])[0])
    p = mixed(q, memories, parts)
    np.testing.assert_allclose(p, (1 - 0.1 * number) * q + 0.1 * number * np.eye(3)[2])
    known = [Remembered(np.array([1.0]), np.array([1.0])), Remembered(np.array([np.nan]), np.array([0.0]))]
    given = mixture(q[2:], known, np.array([list(own.values()) for own in parts]))
    assert given[0] == pytest.approx(p[2])


def test_a_memory_that_is_right_takes_its_part_where_it_is_confident():
    model = np.full(400, 0.1)
    right = np.tile([1.0, 0.0], 200)
    known = Remembered(right, np.repeat([1.0, 0.1], 200))
    parts = fitted(model, [known])
    assert parts[1].tolist() == [0]  # of a cell without positions nothing is known
    # The mean of log((1 - a) .1 + a) and log((1 - a) .1) is highest at a = 4 / 9.
    assert parts[2][0] == pytest.approx(4 / 9, abs=5e-3)

    # The model keeps a part where a memory was always right.
    assert shares(np.array([[0.1, 1.0]] * 9))[0] == pytest.approx(1 / 9, abs=1e-3)


def test_bounds_and_shares_by_hand():
    """At the first position the free minimum is the better lower bound, at the second the ball proves the upper one."""
    values = pd.DataFrame({"document": [0, 1], "kl": [1.0, 1.0], "forced": [0.1, 0.3], "gap": [0.0, 0.0]})
    values = values.assign(norm_forced=[0.12, 0.36], norm_gap=[0.03, 1e-7])
    rows = {row["measure"]: row for row in sphere_rows(values, {"text": "t", "truth": "all"}, 200, 0)}
    expected = {"kl": 1, "head": 0.2, "forced": 0.24, "least": 0.23, "share": 0.24}
    expected |= {"added": 0.2, "proved": 0.5, "outside": 0.5}
    assert {f"norm_{name}" for name in expected} == set(rows)
    for name, value in expected.items():
        assert rows[f"norm_{name}"]["value"] == pytest.approx(value, abs=1e-6), name
    assert rows["norm_forced"]["low"] <= 0.24 <= rows["norm_forced"]["high"]


def test_a_head_that_forces_nothing_has_no_share_added():
    values = pd.DataFrame({"document": [0, 1], "kl": [1.0, 2.0], "forced": [1e-10, 0.0], "gap": [1e-10, 0.0]})
    values = values.assign(norm_forced=[1e-8, 0.0], norm_gap=[0.0, 0.0])
    rows = {row["measure"]: row["value"] for row in sphere_rows(values, {}, 200, 0)}
    assert "norm_added" not in rows
    assert rows["norm_head"] == 0
    assert rows["norm_forced"] == pytest.approx(5e-9)
