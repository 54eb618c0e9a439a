"""Memories of a text, mixtures with them and rows of the table, worked by hand, written another way, and by SciPy."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from oversmoothing.jobs import UserError
from oversmoothing.store.sealed_json import write_sealed
from studies.real_head.choose import Remembered, fitted, mixture
from studies.real_head.files import LEVELS, cells, read_norm
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
from studies.real_head.names import ALL, MEMORIES
from studies.real_head.show import sphere_rows
from studies.real_head.truths import Choice, cell, mixed, shares


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


@pytest.fixture
def choice():
    draw = np.random.default_rng(0)
    of = {name: (name,) for name in MEMORIES} | {ALL: MEMORIES}
    parts = {
        truth: [dict(zip(names, draw.dirichlet(np.ones(4)).tolist(), strict=False)) for _ in range(cells(len(names)))]
        for truth, names in of.items()
    }
    return Choice(dict.fromkeys(MEMORIES, 4.0), parts, 2.0, 8)


def test_a_choice_that_is_read_mixes_as_the_one_that_was_made(choice, tmp_path):
    """JSON sorts its keys, and cells are numbered in the order of the memories."""
    write_sealed(tmp_path / "choice.json", choice.__dict__)
    read = Choice.read(tmp_path / "choice.json")
    assert read == choice
    sure = {
        name: (np.arange(3), np.array([top, (1 - top) / 2, (1 - top) / 2]))
        for name, top in zip(MEMORIES, (0.4, 0.5, 0.9), strict=True)
    }
    q = np.full(4, 0.25)
    np.testing.assert_array_equal(mixed(q, sure, read.parts[ALL]), mixed(q, sure, choice.parts[ALL]))


NORM = {"centres": False, "gain": [1.0, 2.0], "bias": [0.0, -1.0]}


def changed(value, path, new):
    """Return a copy of JSON with the value at a path replaced, or removed for None."""
    value = json.loads(json.dumps(value))
    *folders, last = path
    place = value
    for key in folders:
        place = place[key]
    if new is None:
        del place[last]
    else:
        place[last] = new
    return value


@pytest.mark.parametrize(
    ("path", "new"),
    [
        *[((name,), None) for name in ("sharpness", "parts", "scale", "neighbours")],
        *[((name,), []) for name in ("sharpness", "parts", "scale", "neighbours")],
        *[(("scale",), value) for value in ("2", True, float("nan"), float("inf"), -1.0, 10**400)],
        *[(("neighbours",), value) for value in (0, 2.0, "8")],
        *[(("sharpness", "ngram"), value) for value in (None, "4", [4])],
        *[(("parts", ALL), value) for value in (None, {}, [], "parts", 3)],
        *[(("parts", ALL, 5), value) for value in (None, [], {"neural": 0.5}, dict.fromkeys(MEMORIES, 0.5))],
        (("parts", ALL, 5, "ngram"), -0.1),
        (("parts", "ngram", 0, "other"), 0.1),
    ],
)
def test_a_damaged_choice_is_one_line(choice, tmp_path, path, new):
    (tmp_path / "choice.json").write_text(json.dumps(changed(choice.__dict__, path, new)))
    with pytest.raises(UserError, match=r"^[^\n]*choice\.json: damaged \([^\n]+\); delete it and run again$"):
        Choice.read(tmp_path / "choice.json")


@pytest.mark.parametrize(
    ("path", "new"),
    [
        *[((name,), None) for name in NORM],
        *[((name,), "no") for name in NORM],
        *[(("gain",), value) for value in ([], [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], ["1", "2"], {"0": 1, "1": 2}, 5)],
        *[(("bias", 0), value) for value in (float("nan"), float("-inf"), True, 10**400)],
        (("centres",), 1),
    ],
)
def test_a_damaged_norm_is_one_line(tmp_path, path, new):
    (tmp_path / "norm.json").write_text(json.dumps(changed(NORM, path, new)))
    with pytest.raises(UserError, match=r"^[^\n]*norm\.json: damaged \([^\n]+\); delete it and run again$"):
        read_norm(tmp_path / "norm.json", 2)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"3", b"\xff", b"[" * 100_000, b'{"gain": '])
def test_a_file_of_a_text_that_is_no_json_is_one_line(tmp_path, text):
    (tmp_path / "a.json").write_bytes(text)
    for read in (Choice.read, lambda path: read_norm(path, 2)):
        with pytest.raises(UserError, match=r"a\.json: damaged \([^\n]+\); delete it and run again$"):
            read(tmp_path / "a.json")


def test_a_norm_and_no_norm(tmp_path):
    for said, found in (({}, None), (NORM, ([1.0, 2.0], [0.0, -1.0]))):
        write_sealed(tmp_path / "norm.json", said)
        norm = read_norm(tmp_path / "norm.json", 2)
        assert (norm and (norm.gain.tolist(), norm.bias.tolist())) == found
