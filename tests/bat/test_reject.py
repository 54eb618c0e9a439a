"""BAT-reject sets against one linear program per token, exact proofs, and what changes a set."""

import math

import numpy as np
import pytest
from certificates import proves
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from oversmoothing.bat import near_zero, simplex
from oversmoothing.bat.basis import prepare
from oversmoothing.bat.linear_programs import reject_set_by_linear_programs
from oversmoothing.bat.reject import DELTA, _settle, reject_set
from oversmoothing.scores.decodings.greedy import greedy
from oversmoothing.scores.decodings.pure import pure
from oversmoothing.scores.decodings.temperature import temperature
from oversmoothing.scores.decodings.top_k import top_k
from oversmoothing.scores.decodings.top_p import top_p
from oversmoothing.scores.probabilities import softmax

DECODINGS = {"pure": pure, "greedy": greedy, "top-k": top_k, "top-p": top_p, "temperature": temperature}


def draw(rank, seed, v, sharpness=2.0):
    """Draw a head and a distribution that it can give."""
    generator = np.random.default_rng([rank, seed, v])
    weights = generator.normal(size=(v, rank)).astype(np.float32)
    hidden = generator.normal(size=rank) * sharpness / np.sqrt(rank)
    return weights, softmax((weights.astype(np.float64) @ hidden)[None])


@pytest.mark.parametrize("rank", [1, 2, 4, 8, 12, 16, 32])
@pytest.mark.parametrize("decoding", DECODINGS)
def test_sets_equal_one_linear_program_per_token(rank, decoding):
    """210 instances: 35 cells of six, over delta and sharpness."""
    for seed in range(6):
        weights, p = draw(rank, seed, v=48, sharpness=[1.0, 3.0][seed % 2])
        delta = [0.05, DELTA, 1.0][seed % 3]
        decoded = DECODINGS[decoding](p)
        sets = reject_set(prepare(weights), decoded, delta)
        assert not sets.undecided.any()
        np.testing.assert_array_equal(sets.rejected[0], reject_set_by_linear_programs(weights, decoded[0], delta))


@st.composite
def awkward(draw_from):
    """Heads with repeated, dependent or zero rows and columns; p with zeros, ties, one token, or masses to 1e-30."""
    v, d = draw_from(st.integers(1, 9)), draw_from(st.integers(1, 5))
    generator = np.random.default_rng(draw_from(st.integers(0, 2**32 - 1)))
    weights = generator.normal(size=(v, d))
    match draw_from(st.sampled_from(["free", "whole", "twins", "columns", "zero"])):
        case "whole":
            weights = generator.integers(-2, 3, size=(v, d)).astype(float)
        case "twins":
            weights = weights[generator.integers(0, v, size=v)]
        case "columns":
            weights[:, 0] = weights[:, -1]
        case "zero":
            weights[:] = 0.0
    match draw_from(st.sampled_from(["free", "equal", "zeros", "rare", "one", "float32"])):
        case "free":
            p = generator.dirichlet(np.ones(v))
        case "equal":
            p = np.full(v, 1 / v)
        case "zeros":
            p = generator.dirichlet(np.ones(v)) * (generator.random(v) < 0.5)
            p = p / p.sum() if p.any() else np.eye(v)[0]
        case "rare":
            p = 10.0 ** -generator.uniform(0, 30, size=v)
            p /= p.sum()
        case "one":
            p = np.eye(v)[generator.integers(v)]
        case "float32":
            p = generator.dirichlet(np.full(v, 0.3)).astype(np.float32)
    return weights, p, draw_from(st.sampled_from([0.0, 1e-6, 0.05, DELTA, 1.0, 5.0, 20.0]))


def is_a_tie(weights, p, delta):
    """Return whether the set hangs on the last bit: a slightly smaller and a slightly larger delta differ in it."""
    basis = prepare(weights)
    sets = [
        reject_set(basis, p, abs(delta) * factor).rejected for factor in (1 - 1e-7, 1 + 1e-7) if delta * factor <= 20
    ]
    return any((other != sets[0]).any() for other in sets)


@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(awkward())
def test_awkward_heads_and_distributions_are_decided_and_proved(case):
    """Each decision holds in exact arithmetic, unless it hangs on the last bit of a tie."""
    weights, p, delta = case
    sets = reject_set(prepare(weights), p, delta, certificates=True)
    unproved = [i for i in range(len(p)) if not proves(weights, sets, 0, i, math.exp(delta))]
    assert not unproved or is_a_tie(weights, p, delta)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(awkward())
def test_awkward_heads_and_distributions_equal_brute_force(case):
    weights, p, delta = case
    assume(p[p > 0].min() > 1e-9 and delta <= 1)  # beyond that the linear programs themselves lose their digits
    sets = reject_set(prepare(weights), p, delta)
    theirs = reject_set_by_linear_programs(weights, p, delta)
    assert (sets.rejected[0] == theirs)[~sets.undecided[0]].all() or is_a_tie(weights, p, delta)


@settings(max_examples=40)
@given(st.integers(0, 1000))
def test_more_freedom_rejects_more(seed):
    """A larger delta, or a head of which less is kept, only adds q, so the sets grow."""
    weights, p = draw(6, seed, v=40)
    basis = prepare(weights)
    tight, loose = reject_set(basis, p, 0.1).rejected, reject_set(basis, p, 0.5).rejected
    assert (tight <= loose).all()
    fewer = prepare(weights[:, :3])
    assert (loose <= reject_set(fewer, p, 0.5).rejected).all()


def test_a_batch_is_its_rows_whatever_the_order():
    weights, _ = draw(8, 1, v=64)
    p = np.concatenate([draw(8, seed, v=64)[1] for seed in range(12)])
    basis = prepare(weights)
    together = reject_set(basis, p).rejected
    np.testing.assert_array_equal(together[::-1], reject_set(basis, p[::-1]).rejected)
    np.testing.assert_array_equal(together, np.concatenate([reject_set(basis, row).rejected for row in p]))
    assert reject_set(basis, p[:0]).rejected.shape == (0, 64)


@pytest.mark.parametrize(("least", "rejects"), [(2e-9, False), (1e-12, True), (0.0, True), (-2e-9, True)])
def test_a_minimum_beside_zero_is_decided_in_rational_arithmetic(least, rejects):
    """This head leaves (1, -3, 2) open, of which the first token bounds how far the second falls: to p_2 `least`."""
    head, bound = np.array([[-1.0], [1.0], [2.0]]), math.exp(DELTA)
    basis = prepare(head)
    middle = 3 * (bound - 1) * 0.2 / (1 - least)
    p = np.array([0.2, middle, 0.8 - middle])
    kept = (np.full((1, 3, 2), -1, np.int16), np.full((1, 3, 3), 3, np.int8))
    status = simplex.solve(basis.columns, np.zeros((1, 2)), p[None], bound, 0.0, kept)[0, 1]
    assert (status == simplex.UNDECIDED) == (least == 2e-9)
    decided = near_zero.decide(basis.columns, p, bound, 1, kept[0][0, 1], kept[1][0, 1])
    assert decided == (simplex.REJECTED if rejects else simplex.ACCEPTED)
    sets = reject_set(basis, p, certificates=True)
    assert not sets.undecided.any()
    assert sets.rejected[0, 1] == rejects
    assert proves(head, sets, 0, 1, bound) or least in (0.0, 1e-12)  # less than `simplex.ZERO` above zero


def test_a_minimum_beside_zero_behind_a_layer_norm():
    """With one direction free, the other constraints decide: those of the test above, in a turned space."""
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    bound, middle = math.exp(DELTA), 3 * (math.exp(DELTA) - 1) * 0.2 / (1 - 2e-9)
    p = np.array([0.2, middle, 0.8 - middle])
    own = prepare(np.array([[-1.0], [1.0], [2.0]])).columns
    free = np.array([0.3, -0.5, 0.9])
    status = np.array([simplex.ACCEPTED, simplex.UNDECIDED, simplex.ACCEPTED])
    columns = np.concatenate([own, free[:, None]], axis=1) @ turn
    _settle(columns, turn[2], p, bound, 0.0, status)
    assert status[1] == simplex.ACCEPTED


def test_float32_is_renormalised():
    weights, p = draw(16, 2, v=256)
    rounded = p.astype(np.float32) * np.float32(1.0003)
    sets = reject_set(prepare(weights), rounded)
    assert sets.p.sum() == pytest.approx(1, abs=1e-15)
    np.testing.assert_array_equal(sets.rejected, reject_set(prepare(weights), p).rejected)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-3, 0.1])
def test_a_mass_tolerance_gives_a_bracket_around_the_exact_mass(tolerance):
    weights, _ = draw(16, 0, v=256)
    p = np.concatenate([draw(16, seed, v=256)[1] for seed in range(10)])
    exact = reject_set(prepare(weights), p).mass[0]
    sets = reject_set(prepare(weights), p, mass_tolerance=tolerance)
    low, high = sets.mass
    assert (high - low <= tolerance).all()
    assert (low <= exact + 1e-15).all()
    assert (exact <= high + 1e-15).all()
    assert tolerance < 0.1 or sets.undecided.any()


@pytest.mark.parametrize("options", [{"delta": 21.0}, {"delta": np.inf}, {"mass_tolerance": 2}, {"mass_tolerance": -1}])
def test_what_is_out_of_range_is_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        reject_set(prepare(np.eye(3)[:, :1]), np.full(3, 1 / 3), **options)


@pytest.fixture(scope="module")
def bytes_model():
    generator = np.random.default_rng(5)
    weights = generator.normal(size=(256, 12)).astype(np.float32)
    p = softmax(generator.normal(size=(1, 12)) @ weights.T.astype(np.float64))
    return weights, reject_set(prepare(weights), p, certificates=True)


def test_every_decision_of_a_byte_model_is_proved(bytes_model):
    weights, sets = bytes_model
    assert 0 < sets.rejected[0].sum() < 256
    assert all(proves(weights, sets, 0, token, math.exp(DELTA)) for token in range(256))


def test_what_a_certificate_proves_of_another_head_is_true_of_that_head(bytes_model):
    weights, sets = bytes_model
    other = np.random.default_rng(6).normal(size=weights.shape)
    truth = reject_set(prepare(other), sets.p[:1])
    proved = [token for token in range(0, 256, 4) if proves(other, sets, 0, token, math.exp(DELTA))]
    assert 0 < len(proved) < 64
    np.testing.assert_array_equal(sets.rejected[0, proved], truth.rejected[0, proved])


def test_full_rank_is_proved_by_the_rank():
    weights = np.random.default_rng(0).normal(size=(40, 45))
    sets = reject_set(prepare(weights), np.full(40, 1 / 40), certificates=True)
    assert all(proves(weights, sets, 0, token, math.exp(DELTA)) for token in range(40))
    assert not any(proves(weights[:, :5], sets, 0, token, math.exp(DELTA)) for token in range(40))
