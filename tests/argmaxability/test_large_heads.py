"""Argmaxable classes of large vocabularies: the same classes as with all pairs, and every certificate exact."""

import numpy as np
import pytest
from argmax_checks import check_some, rng

from oversmoothing.argmaxability import certificates, classes
from oversmoothing.argmaxability.classes import argmaxable
from oversmoothing.argmaxability.proofs import check
from oversmoothing.argmaxability.working_set import WorkingSet


@pytest.fixture
def by_working_set(monkeypatch):
    """Decide small heads as large ones, too."""

    def decide(weights, bias=None, **options):
        with monkeypatch.context() as patch:
            patch.setattr(classes, "ALL_PAIRS", 0)
            return argmaxable(weights, bias, **options)

    return decide


def heads(seed):
    """Make a head of one of four kinds: uneven rows, whole numbers, planted combinations, long-tailed rows."""
    draw = rng(seed)
    v, d = int(draw.integers(2, 60 if seed % 5 else 300)), int(draw.integers(1, 12))
    kind = seed % 4
    weights = draw.normal(size=(v, d)) * draw.gamma(1.0, size=(v, 1))
    if kind == 1:
        weights = np.round(2 * weights)  # equal rows, rows on edges and faces
    if kind == 2 and v > 2 * d + 12:
        weights[:4] = draw.dirichlet(np.ones(v - 8), 4) @ weights[8:]
        weights[4] = weights[5]
    if kind == 3:
        weights = draw.standard_t(2, size=(v, d)) + 10 * draw.normal(size=d)
    bias = draw.normal(size=v) if seed % 3 == 0 else None
    return weights, bias if bias is None or kind != 1 else np.round(bias)


@pytest.mark.parametrize("seed", range(40))
def test_decides_as_all_pairs_do(seed, by_working_set):
    weights, bias = heads(seed)
    expected, result = argmaxable(weights, bias), by_working_set(weights, bias)
    check(weights, bias, result)
    np.testing.assert_array_equal(result.status, expected.status)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("numbers", [1, 2**14])
def test_sizes_of_blocks_change_nothing(numbers, bias, by_working_set, monkeypatch):
    """Down to one class, one hidden vector and one matrix at a time."""
    weights = rng(1).normal(size=(200, 5))
    offset = rng(2).normal(size=200) if bias else None
    expected = by_working_set(weights, offset)
    for module, name in ((certificates, "NUMBERS"), (certificates, "MATRICES"), (classes, "NUMBERS")):
        monkeypatch.setattr(module, name, numbers)
    monkeypatch.setattr("oversmoothing.argmaxability.working_set.NUMBERS", numbers)
    for module in ("coordinates", "own_directions"):
        monkeypatch.setattr(f"oversmoothing.argmaxability.{module}.BLOCK", 7)
    result = by_working_set(weights, offset)
    check(weights, offset, result)
    np.testing.assert_array_equal(result.status, expected.status)


def test_a_working_set_that_must_grow(by_working_set, monkeypatch):
    for name in ("FIRST", "FIRST_PER_DIMENSION"):
        monkeypatch.setattr(f"oversmoothing.argmaxability.working_set.{name}", 2)
    weights = rng(3).normal(size=(300, 4))
    result = by_working_set(weights)
    check(weights, None, result)
    np.testing.assert_array_equal(result.status, argmaxable(weights).status)


@pytest.mark.parametrize("d", [6, 48])
def test_planted_classes_are_found_among_thousands(d):
    """Rows inside the hull of others: of many, deep inside; of few, where a face of the hull of some others is."""
    draw = rng(d)
    weights = draw.normal(size=(8192, d)).astype(np.float32)
    weights[:10] = (draw.dirichlet(np.ones(4 * d), 10) @ weights[100 : 100 + 4 * d]).astype(np.float32)
    weights[10:15] = (draw.dirichlet(np.ones(5), 5) @ weights[200:205] / 2).astype(np.float32)
    weights[15] = weights[300]
    result = argmaxable(weights)
    assert not len(result.undecided())
    assert (result.status[[*range(16), 300]] == "unargmaxable").all()
    yes, no = (np.flatnonzero(result.status == status) for status in ("argmaxable", "unargmaxable"))
    check_some(weights.astype(np.float64), None, result, [*yes[:: len(yes) // 20], *no[:: len(no) // 4]])


def test_witnesses_in_single_precision_are_proven_as_they_are(monkeypatch, by_working_set):
    monkeypatch.setattr(certificates, "DOUBLES", 0)
    weights = rng(5).normal(size=(300, 6))
    result = by_working_set(weights)
    assert result.hidden.dtype == np.float32
    check(weights, None, result)
    np.testing.assert_array_equal(result.status, argmaxable(weights).status)


def test_hidden_states_are_read_in_blocks(tmp_path):
    """States on disk, in single precision, which decide most classes before any search."""
    weights, states = rng(6).normal(size=(3000, 10)), rng(7).normal(size=(9000, 10)).astype(np.float32)
    np.save(tmp_path / "states.npy", states)
    result = argmaxable(weights, hidden=np.load(tmp_path / "states.npy", mmap_mode="r"))
    seen = np.unique((states.astype(np.float64) @ weights.T).argmax(axis=1))
    assert result.argmaxable[seen].all()
    np.testing.assert_array_equal(result.status, argmaxable(weights).status)
    states[8000, 3] = np.nan
    with pytest.raises(ValueError, match="hidden: row 8000 has NaN"):
        argmaxable(weights, hidden=states)


def test_without_effort_classes_are_left_undecided_and_counted(by_working_set, monkeypatch):
    monkeypatch.setattr(classes, "MORE_ROUNDS", 1)
    weights = rng(8).normal(size=(300, 6))
    result, full = by_working_set(weights, effort=0), by_working_set(weights)
    left = result.undecided()
    assert 0 < len(left) < 300
    decided = np.setdiff1d(np.arange(300), left)
    np.testing.assert_array_equal(result.status[decided], full.status[decided])
    wanted = rf"undecided classes \[.*\] and {len(left) - 10} more.*factor of full column rank"
    with pytest.raises(ValueError, match=wanted):
        _ = result.argmaxable


def test_a_combination_avoids_the_banned_row():
    """The centre of a square is the middle of either diagonal."""
    rows = np.array([[1.0, 1, 1], [1, -1, -1], [1, 1, -1], [1, -1, 1], [1, 0, 0]])
    working_set = WorkingSet(rows, 5)
    first = working_set.search(np.array([4]), np.array([-1]), np.ones(5, bool), 50)
    used = first.supports[0][first.supports[0] >= 0]
    again = working_set.search(np.array([4]), used[:1], np.ones(5, bool), 50)
    for found in (first, again):
        assert np.linalg.norm(found.residuals) < 1e-9
        assert found.weights.sum() == pytest.approx(1)
    assert used[0] not in again.supports[0]
