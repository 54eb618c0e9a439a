"""BAT-reject sets of large vocabularies: against the dense solver, against linear programs, and proved."""

import heads
import numpy as np
import pytest
from heads import KINDS, distributions, head
from intervals import proves
from methods import constraints

from oversmoothing.bat import reject
from oversmoothing.bat.basis import prepare, prepare_tangent
from oversmoothing.bat.large import solve as large
from oversmoothing.bat.large.position import ACCEPTED, OPEN, REJECTED, Position
from oversmoothing.bat.large.solve import solve
from oversmoothing.bat.large.widened_set import WidenedSet, project
from oversmoothing.bat.reject import DELTA, LARGEST_DENSE, reject_set
from oversmoothing.measures.entries.tbat import mass
from oversmoothing.samples.bat import bat_decoder
from oversmoothing.scores.probabilities import softmax

BOUNDS = (1.05, 1.25, 1.6, 2.5, 4.0)
SIZES = ((60, 4), (90, 12), (150, 20), (260, 8))
FLOAT = 1e-12  # rounding of a sum of probabilities


def draw(kind, v, d, seed, **options):
    """Draw a head and distributions of it; every third loses a part of its support."""
    weights, p = heads.draw(kind, v, d, seed, **options)
    if seed % 3 == 2:
        p[:, np.random.default_rng(seed).random(v) < 0.4] = 0
        p /= p.sum(axis=1, keepdims=True)
    return weights, p


def agrees(position, sets, tolerance):
    """Check one position against the dense solver's; return whether its bracket is as narrow as asked."""
    certain = ~sets.undecided[0] & (position.status != OPEN)
    np.testing.assert_array_equal((position.status == REJECTED)[certain], sets.rejected[0][certain])
    low, width = position.mass(REJECTED), position.mass(OPEN)
    (least,), (most,) = sets.mass
    assert low <= most + FLOAT
    assert least <= low + width + FLOAT
    return width <= tolerance


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_bracket_holds_the_dense_solvers_mass_and_no_decision_differs(kind, bound):
    """600 instances: 25 cells of 24, over sizes, supports and tolerances."""
    narrow = 0
    for seed in range(6):
        for v, d in SIZES:
            weights, p = draw(kind, v, d, seed)
            basis, tolerance = prepare(weights), (1e-6, 1e-3)[seed % 2]
            position = solve(constraints(basis), p[0], bound, tolerance)
            narrow += agrees(position, reject_set(basis, p[0], np.log(bound)), tolerance)
    assert narrow >= 20


def test_after_a_norm_each_position_has_its_own_constraints():
    generator = np.random.default_rng(0)
    weights, gain = generator.normal(size=(120, 9)), generator.uniform(0.5, 2, 9)
    basis = prepare_tangent(weights, gain)
    n = generator.normal(size=(4, 9))
    n = (n - n.mean(axis=1, keepdims=True)) / n.std(axis=1, keepdims=True)
    p, post = softmax(n * gain @ weights.T / 3), n * gain
    for row, normal, state in zip(p, basis.normals(post), post, strict=True):
        position = solve(constraints(basis, normal), row, 1.25, 0.0)
        assert agrees(position, reject_set(basis, row, DELTA, post=state), 0.0)


def test_a_vocabulary_above_the_limit_takes_the_large_method_and_a_short_support_the_dense_one(monkeypatch):
    weights, p = draw("ppmi", 1200, 12, 0, n=3)
    p[1, 900:] = p[2, 5:] = 0
    p /= p.sum(axis=1, keepdims=True)
    asked = []
    monkeypatch.setattr(reject, "solve", lambda head, row, *rest: asked.append(len(row)) or solve(head, row, *rest))
    basis = prepare(weights)
    sets = reject_set(basis, p, mass_tolerance=1e-6)
    assert asked == [1200]
    low, high = sets.mass
    assert (high - low <= 1e-6).all()
    assert low[0] > 0.01
    assert high[2] == 0
    monkeypatch.setattr(reject, "LARGEST_DENSE", 1200)
    exact = reject_set(basis, p)
    assert not ((sets.rejected != exact.rejected) & ~sets.undecided).any()
    assert asked == [1200]


def test_certificates_of_a_large_vocabulary_are_refused_with_what_to_do_instead():
    with pytest.raises(ValueError, match=r"`large\.solve\.solve` keeps those of the tokens named in `witnesses`"):
        reject_set(prepare(np.eye(LARGEST_DENSE + 1)[:, :2]), np.full(LARGEST_DENSE + 1, 1 / 1001), certificates=True)


def proved_share(weights, p, bound, tolerance, tokens):
    """Share of the sampled decisions that are proved; none may be decided without a witness or p_i > 1 - 1/E."""
    basis = prepare(weights)
    position = solve(constraints(basis), p, bound, tolerance, witnesses=tokens)
    coordinates = basis.columns.T @ np.concatenate([weights, np.ones((len(p), 1))], axis=1)
    proved = []
    for token in tokens:
        if position.status[token] != OPEN:
            rejected, witness = bool(position.status[token] == REJECTED), position.witnesses[token]
            if witness is not None and not rejected:
                witness = np.linalg.solve(coordinates, witness)
            proved.append(proves(weights, p, int(token), rejected, bound, witness))
            assert witness is None or not proves(weights, p, int(token), rejected, bound, -witness)
    return position, np.array(proved)


@pytest.mark.parametrize(
    ("v", "d", "nats", "bound"),
    [
        (8192, 16, 3.0, 1.25),
        (8192, 32, 5.0, 3.0),
        (50_304, 16, 4.0, 1.25),
    ],
)
def test_sampled_decisions_are_proved_with_every_rounding_bounded(v, d, nats, bound):
    generator = np.random.default_rng([v, d])
    weights = head("ppmi", v, d, generator)
    p = distributions(weights, np.array([nats]), generator)[0]
    likely = np.argsort(-p)[:40]
    tokens = np.concatenate([likely[::2], generator.choice(likely[20:], 5), generator.choice(v, 15)])
    position, proved = proved_share(weights, p, bound, 1e-3, np.unique(tokens))
    assert position.mass(OPEN) <= 1e-3
    assert position.mass(REJECTED) > 0.01
    assert {REJECTED, ACCEPTED} <= set(position.status[tokens].tolist())
    assert len(proved) > 20
    assert proved.all()


def test_decoder_and_tbat_take_a_large_vocabulary_through_the_same_interface():
    weights, p = draw("ppmi", 8192, 16, 0, n=2, least=3.0)
    basis = prepare(weights)
    score = mass(basis, p, DELTA, 1e-3, "here")
    assert (score["high"] - score["low"] <= 1e-3).all()
    q = bat_decoder(weights, mass_tolerance=1e-3)(p)
    np.testing.assert_allclose(np.where(q > 0, p, 0).sum(axis=1), 1 - score["high"], atol=1e-12)
    np.testing.assert_allclose(q.sum(axis=1), 1)


def test_a_wide_bracket_of_a_large_vocabulary_is_counted_instead_of_refused(monkeypatch):
    nothing = lambda head, p, bound, _: Position(head, p, bound - 1, np.zeros(len(p), np.int8))  # noqa: E731
    monkeypatch.setattr(reject, "solve", nothing)
    weights, p = draw("gauss", 40_000, 2, 0)
    score = mass(prepare(weights), p, DELTA, 1e-9, "here")
    assert score["undecided"].dtype == np.int32
    assert score["undecided"].tolist() == [40_000]
    assert (score["low"][0], score["high"][0]) == (0, pytest.approx(1))


@pytest.mark.parametrize(("nats", "bound"), [(3.0, 1.25), (5.0, 1.25), (3.0, 2.5)])
def test_what_a_search_among_more_tokens_decides_is_proved(nats, bound, monkeypatch):
    """As for heads so large that the tokens that are added get no metric with bounds of its errors."""
    generator = np.random.default_rng([8192, 32])
    weights = head("ppmi", 8192, 32, generator)
    p = distributions(weights, np.array([nats]), generator)[0]
    found = []

    def search(working, *others):
        before = working.position.status.copy()
        best = project(working, *others)
        if isinstance(working, WidenedSet):
            found.extend(np.flatnonzero(working.position.status != before).tolist())
        return best

    monkeypatch.setattr(large, "PROGRAM_SIZE", 0)
    monkeypatch.setattr(large, "LEAST", 2)  # so that the first search leaves tokens open
    monkeypatch.setattr(large, "MOST", 2)
    monkeypatch.setattr(large, "project", search)
    solve(constraints(prepare(weights)), p, bound, 1e-4)
    tokens = np.array(found[:20])
    position, proved = proved_share(weights, p, bound, 1e-4, tokens)
    assert len(proved) == len(tokens) > 0
    assert proved.all()
    assert (position.status[tokens] != OPEN).all()
