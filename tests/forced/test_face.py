"""Faces of a head's polytope: cyclic polytopes, linear programs, and the distributions near a face."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from oversmoothing.forced.face import NO, YES, faces


def moment_curve(count, d):
    points = np.cos(np.pi * (np.arange(count) + 0.5) / count)  # nodes at which powers are not too alike
    return np.stack([points**power for power in range(1, d + 1)], axis=1)


def chosen(v, sets):
    return np.array([np.isin(np.arange(v), list(members)) for members in sets])


def by_linear_program(rows, inside):
    """Largest s with w_i y = c in the set and w_j y <= c - s outside, |y| <= 1."""
    d = rows.shape[1]
    free = [(-1, 1)] * d + [(None, None), (None, 1)]
    outside = np.column_stack([rows[~inside], -np.ones((~inside).sum()), np.ones((~inside).sum())])
    equal = np.column_stack([rows[inside], -np.ones(inside.sum()), np.zeros(inside.sum())])
    solution = linprog([*np.zeros(d + 1), -1], outside, np.zeros(len(outside)), equal, np.zeros(len(equal)), free)
    return -solution.fun


def test_gales_evenness_condition_names_the_facets():
    """A set of d points is a facet if and only if any two others have an even number of its points between them."""
    d, count = 4, 8
    sets = list(combinations(range(count), d))
    even = [
        all(sum(a < i < b for i in facet) % 2 == 0 for a, b in combinations(sorted({*range(count)} - {*facet}), 2))
        for facet in sets
    ]
    np.testing.assert_array_equal(faces(moment_curve(count, d), chosen(count, sets)) == YES, even)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 8), st.integers(5, 40), st.integers(1, 6))
def test_a_linear_program_agrees(seed, d, v, k):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(v, d))
    inside = np.zeros(v, bool)
    inside[np.argsort(-(rows @ rng.normal(size=d)))[: min(k, v - 1)]] = True  # the tops of a direction: often a face
    margin = by_linear_program(rows, inside)
    if abs(margin) > 1e-6 or margin == 0:
        assert faces(rows, inside[None])[0] == (YES if margin > 0 else NO)


def test_what_is_between_others_is_no_face():
    rows = np.array([[0.0, 0], [1, 0], [0, 1], [0.3, 0.3], [0, 0]])
    sets = [(3,), (0,), (0, 4), (1, 2), (0, 1, 2), range(5), (1,)]
    assert faces(rows, chosen(5, sets)).tolist() == [NO, NO, YES, YES, NO, YES, YES]
