"""Mixtures of a model with memories: their parts against SciPy, and distributions at a position."""

import numpy as np
import pytest
from scipy.optimize import minimize

from studies.real_head.choose import Remembered, fitted, mixture
from studies.real_head.mixture import LEVELS, cell, cells, filled, mixed, shares


def test_shares_are_those_that_scipy_finds():
    table = np.random.default_rng(0).uniform(0.01, 1, size=(200, 3))

    def loss(free):
        part = np.exp(free) / np.exp(free).sum()
        return -np.log(table @ part).sum() - np.log(part[0])

    found = minimize(loss, np.zeros(3), tol=1e-12).x
    np.testing.assert_allclose(shares(table), np.exp(found) / np.exp(found).sum(), atol=2e-4)


def test_what_a_memory_lacks_the_model_fills():
    table = filled(np.array([0.5, 0.25]), [np.array([np.nan, 1.0])])
    assert table.tolist() == [[0.5, 0.5], [0.25, 1.0]]


def test_cells_count_all_pairs_of_confidences():
    low, high = np.array([0.0, LEVELS[0], 1.0]), np.array([1.0, 0.0, LEVELS[1]])
    assert cell([low, high]).tolist() == [2, 3, 8]
    assert cells(2) == 9


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


def test_the_model_keeps_a_part_where_a_memory_was_always_right():
    assert shares(np.array([[0.1, 1.0]] * 9))[0] == pytest.approx(1 / 9, abs=1e-3)
