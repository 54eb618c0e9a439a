"""One linear program per token: what the units of a head are, and what is no answer."""

from types import SimpleNamespace

import numpy as np
import pytest

from oversmoothing.bat import linear_programs
from oversmoothing.bat.linear_programs import reject_set_by_linear_programs


def test_the_set_does_not_depend_on_the_units_of_the_head():
    generator = np.random.default_rng(0)
    weights, p = generator.normal(size=(30, 5)), generator.dirichlet(np.full(30, 0.5))
    rejected = reject_set_by_linear_programs(weights, p)
    assert 0 < rejected.sum() < 30
    moved = 1e5 + weights @ np.diag([1e-3, 1, 1, 1, 1e3])
    np.testing.assert_array_equal(reject_set_by_linear_programs(moved, p.astype(np.float32)), rejected)


def test_an_unclear_answer_is_an_error(monkeypatch):
    unclear = SimpleNamespace(status=4, message="numerical difficulties")
    monkeypatch.setattr(linear_programs, "linprog", lambda *args, **options: unclear)
    with pytest.raises(RuntimeError, match=r"token 0 .* status 4, numerical difficulties"):
        reject_set_by_linear_programs(np.zeros((8, 1)), np.full(8, 0.125))
