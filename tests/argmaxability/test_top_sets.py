"""Sets that a head can score above all others: SciPy's linear programs, exact certificates, cases solved by hand."""

import numpy as np
import pytest
from argmax_checks import check_some, rng
from scipy.optimize import linprog

from oversmoothing.argmaxability import classes, top_sets
from oversmoothing.argmaxability.top_sets import search, signed


def is_possible(weights, bias, members):
    """Tell whether a threshold parts the logits of a set from those of all others, by a linear program."""
    v, d = weights.shape
    bias = np.zeros(v) if bias is None else bias
    sign = np.where(np.isin(np.arange(v), members), 1.0, -1.0)
    rows = np.column_stack([-sign[:, None] * weights, -sign, np.ones(v)])  # sign (w h + b + t) >= the margin
    bounds = [(None, None)] * (d + 1) + [(None, 1)]
    return linprog(np.append(np.zeros(d + 1), -1), rows, sign * bias, bounds=bounds).fun < -1e-9


def sets_of(draw, v, k, count=40):
    return np.array([draw.permutation(v)[:k] for _ in range(count)])


CASES = [(12, 3, 2, False), (12, 3, 2, True), (10, 2, 3, True), (30, 8, 5, False), (30, 5, 4, True), (9, 4, 8, False)]


@pytest.mark.parametrize("by_search", [False, True])
@pytest.mark.parametrize(("v", "d", "k", "biased"), CASES)
def test_linear_programs_agree(v, d, k, biased, by_search, monkeypatch):
    if by_search:  # of a working set, as in large heads
        monkeypatch.setattr(top_sets, "REFLECTIONS", 0)
        monkeypatch.setattr(classes, "ALL_PAIRS", 0)
    draw = rng(v, d, k)
    weights, bias = draw.normal(size=(v, d)), draw.normal(size=v) if biased else None
    sets = sets_of(draw, v, k)
    expected = np.where([is_possible(weights, bias, members) for members in sets], "possible", "impossible")
    assert (expected == "possible").any()
    np.testing.assert_array_equal(top_sets.top_sets(weights, bias, sets), expected)


@pytest.mark.parametrize("biased", [False, True])
def test_every_proof_is_exact(biased):
    draw = rng(7)
    weights, bias = draw.normal(size=(12, 3)), draw.normal(size=12) if biased else None
    found = set()
    for members in sets_of(draw, 12, 2, 20):
        head, offset = signed(weights, bias, members)
        result = search(weights, bias, members)
        check_some(head, offset, result, [12])
        found.add(str(result.status[12]))
        if result.status[12] == "argmaxable":
            h = result.hidden[12, :-1] + (result.rest[12][:-1] if 12 in result.rest else 0)
            logits = weights @ h + (0 if bias is None else bias)
            assert set(np.argsort(-logits)[:2]) == set(members)
    assert found == {"argmaxable", "unargmaxable"}


def test_corners_of_a_square_by_hand():
    """Two that share a side are possible; two across are not, nor is a twin alone."""
    square = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    sets = np.array([[0, 1], [0, 2], [0, 3], [1, 2]])
    assert top_sets.top_sets(square, None, sets).tolist() == ["possible", "possible", "impossible", "impossible"]
    twins = np.vstack([square, square[:1]])
    assert top_sets.top_sets(twins, None, np.array([[0, 1], [0, 4]])).tolist() == ["impossible", "possible"]
    raised = np.array([0.0, 9, 9, 0])  # at h = 0 the two across are the highest
    assert top_sets.top_sets(square, raised, np.array([[1, 2], [0, 3]])).tolist() == ["possible", "impossible"]


def test_without_a_search_a_set_is_left_undecided():
    square = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    found = top_sets.top_sets(square, None, np.array([[0, 1], [0, 3], [1, 2]]), searches=1)
    assert found.tolist() == ["possible", "impossible", "undecided"]
