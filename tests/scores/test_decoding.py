"""Decodings against their definitions, token by token, and what they do to any distributions."""

import itertools
import math
import statistics

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from made_scores import DECODINGS, distributions
from scipy.special import softmax

from oversmoothing.jobs import UserError
from oversmoothing.scores.catalogue.decoders import methods
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.decodings.epsilon import epsilon
from oversmoothing.scores.decodings.eta import eta
from oversmoothing.scores.decodings.greedy import greedy
from oversmoothing.scores.decodings.min_k import min_k
from oversmoothing.scores.decodings.min_p import min_p
from oversmoothing.scores.decodings.p_less import p_less
from oversmoothing.scores.decodings.p_less_norm import p_less_norm
from oversmoothing.scores.decodings.pure import pure
from oversmoothing.scores.decodings.temperature import temperature
from oversmoothing.scores.decodings.top_h import top_h
from oversmoothing.scores.decodings.top_k import top_k
from oversmoothing.scores.decodings.top_n_sigma import top_n_sigma
from oversmoothing.scores.decodings.top_p import top_p
from oversmoothing.scores.decodings.typical import typical
from oversmoothing.scores.nucleus import nucleus


def random_rows(n=200, v=256, seed=0):
    rng = np.random.default_rng(seed)
    return softmax(rng.standard_normal((n, v)) * rng.uniform(0, 8, (n, 1)), axis=1).astype(np.float32)


def ascending(values):
    return sorted(range(len(values)), key=lambda i: (values[i], i))


def shortest_prefix(row, order, mass):
    """Return the first tokens of an order that together reach the mass."""
    held = [0.0, *itertools.accumulate(row[i] for i in order)]
    return [i for i, before in zip(order, held, strict=False) if before < mass]


def nucleus_of(row, mass):
    return shortest_prefix(row, ascending([-x for x in row]), mass)


def kept_by_eta(row, epsilon):
    entropy = -sum(x * math.log(x) for x in row if x > 0)
    threshold = min(epsilon, math.sqrt(epsilon) * math.exp(-entropy))
    return [i for i, x in enumerate(row) if x > threshold] or [row.index(max(row))]


def kept_by_typical(row, mass):
    entropy = -sum(x * math.log(x) for x in row if x > 0)
    distance = [round(abs(-math.log(x) - entropy), 9) if x > 0 else math.inf for x in row]
    return shortest_prefix(row, ascending(distance), mass)


def kept_by_top_h(row, alpha):
    terms = [-x * math.log(x) if x > 0 else 0.0 for x in row]
    order = ascending([-x for x in row])
    spent = itertools.accumulate(terms[i] for i in order)
    return [i for i, sum_so_far in zip(order, spent, strict=True) if sum_so_far <= alpha * sum(terms)] or order[:1]


def kept_by_top_n_sigma(row, n):
    logits = {i: math.log(x) for i, x in enumerate(row) if x > 0}
    sigma = statistics.stdev(logits.values()) if len(logits) > 1 else 0
    return [i for i, logit in logits.items() if logit >= max(logits.values()) - n * sigma]


def kept_by_p_less(row, threshold):
    return [i for i, x in enumerate(row) if x >= min(threshold, max(row))]


def kept_by_min_k(row, fallback):
    order = [i for i in ascending([-x for x in row]) if row[i] > 0]
    logits = [math.log(row[i]) for i in order]
    spread = logits[0] - logits[-1] + 1e-8
    falls = [(a - b) / i for i, (a, b) in enumerate(itertools.pairwise(logits), start=1)]
    steepest = falls.index(max(falls)) + 1 if falls else 1
    return order[: max(steepest, int(fallback / spread))]


# The definitions, one row and one token at a time: which tokens are kept.
KEPT = {
    "top-k": lambda row, k: ascending([-x for x in row])[:k],
    "top-p": nucleus_of,
    "min-p": lambda row, share: [i for i, x in enumerate(row) if x >= share * max(row)],
    "eta": kept_by_eta,
    "typical": kept_by_typical,
    "epsilon": lambda row, epsilon: [i for i, x in enumerate(row) if x > epsilon] or [row.index(max(row))],
    "top-h": kept_by_top_h,
    "top-n-sigma": kept_by_top_n_sigma,
    "p-less": lambda row, _: kept_by_p_less(row, sum(x * x for x in row)),
    "p-less-norm": lambda row, _: kept_by_p_less(row, (len(row) * sum(x * x for x in row) - 1) / max(len(row) - 1, 1)),
    "min-k": kept_by_min_k,
}


def entry(name, value):
    return {"name": name, **{parameter.key: value for parameter in methods()[name].parameters}}


def by_definition(name, row, value):
    q = np.zeros(len(row))
    kept = KEPT[name](row.tolist(), value)
    q[kept] = row[kept] / row[kept].sum()
    return q


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("v", [1, 2, 17, 256])
@pytest.mark.parametrize("value", [0.02, 0.3, 0.9])
def test_truncations_are_their_definitions(name, v, value):
    value = math.ceil(value * v) if name == "top-k" else value
    p = random_rows(60, v).astype(np.float64)
    p[0] = np.eye(v)[-1]
    expected = [by_definition(name, row, value) for row in p]
    np.testing.assert_allclose(decoder(entry(name, value))(p), expected, atol=1e-12)


def masks(p, tau):
    """Mark the nucleus by its definition."""
    return [np.isin(np.arange(len(row)), nucleus_of(row.tolist(), tau)) for row in p]


@pytest.mark.parametrize("v", [1, 7, 16, 17, 50, 256, 300])
@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9, 0.999, 1.0])
def test_nucleus_is_the_shortest_prefix(v, tau):
    p = random_rows(100, v)
    np.testing.assert_array_equal(nucleus(p, tau), masks(p, tau))


@given(distributions(np.float64), st.floats(0.011, 0.987))
def test_nucleus_with_ties(p, tau):
    cumulative = np.cumsum(-np.sort(-p, axis=1), axis=1)
    if np.abs(cumulative - tau).min() > 1e-9:  # on the edge, the order of summation decides
        np.testing.assert_array_equal(nucleus(p, tau), masks(p, tau))


def test_ties_go_to_the_lowest_ids():
    p = np.full((3, 256), 1 / 256, np.float32)
    assert np.flatnonzero(greedy(p)[1]).tolist() == [0]
    assert np.flatnonzero(top_k(p, 3)[2]).tolist() == [0, 1, 2]
    assert np.flatnonzero(nucleus(p, 0.9)[0]).tolist() == list(range(231))  # 230/256 < 0.9
    p = np.array([[0.1, 0.3, 0.1, 0.3, 0.1, 0.1]])
    assert np.flatnonzero(nucleus(p, 0.65)[0]).tolist() == [0, 1, 3]
    assert np.flatnonzero(top_k(p, 4)[0]).tolist() == [0, 1, 2, 3]
    assert nucleus(np.full((2, 10), 0.05, np.float32), 0.9).all()  # where mass is missing


@pytest.mark.parametrize("settings", DECODINGS, ids=lambda s: s["name"])
@given(p=distributions())
def test_decodings_are_distributions_in_the_same_order(settings, p):
    before = p.copy()
    settings = {**settings, "k": 1} if "k" in settings else settings
    q = decoder(settings)(p)
    np.testing.assert_array_equal(p, before)
    assert q.dtype == p.dtype
    np.testing.assert_allclose(q.sum(axis=1), 1, atol=1e-5)
    assert (q >= 0).all()
    assert not q[p == 0].any()
    if settings["name"] != "typical":  # which alone may drop the most probable token
        for row, decoded in zip(p, q, strict=True):
            assert (np.diff(decoded[ascending(-row)]) <= 1e-6).all()


@given(p=distributions())
def test_limits(p):
    for same in (pure(p), top_k(p, p.shape[1]), top_p(p, 1.0), top_h(p, 1.0), temperature(p, 1.0)):
        np.testing.assert_array_equal(same, p)
    for best in (top_k(p, 1), top_p(p, 1e-6)):
        np.testing.assert_array_equal(best, greedy(p))


@pytest.mark.parametrize("t", [0.05, 0.8, 3.0])
def test_temperature_is_that_of_logits(t):
    z = np.random.default_rng(2).standard_normal((50, 256)) * 4
    p = softmax(z, axis=1)
    np.testing.assert_allclose(temperature(p, t), softmax(z / t, axis=1), rtol=1e-9, atol=1e-300)


def test_temperature_of_tiny_probabilities():
    p = np.array([[1.0, 1e-38, 1e-20, 0.0]], np.float32)
    exact = p.astype(np.float64) ** (1 / 4)
    np.testing.assert_allclose(temperature(p, 4.0), exact / exact.sum(), rtol=1e-5)
    np.testing.assert_array_equal(temperature(p, 1e-3), [[1, 0, 0, 0]])


# Where rounding may move a threshold or a sum across a token, so that NumPy and torch keep different ones.
ROUNDED = ("eta", "top-h", "top-n-sigma", "p-less", "p-less-norm")


@pytest.mark.parametrize("name", [name for name in KEPT if name not in ("top-k", "top-p")])
@given(p=distributions(np.float64), value=st.floats(0.01, 1.0))
def test_truncations_with_ties_and_zeros(name, p, value):
    decode = decoder(entry(name, value))
    q = decode(p)
    kept = q > 0
    assert name == "typical" or kept[np.arange(len(p)), p.argmax(axis=1)].all()
    assert name != "typical" or ((p * kept).sum(axis=1) >= value - 1e-9).all()
    np.testing.assert_allclose(q, p * kept / (p * kept).sum(axis=1, keepdims=True))
    assert name in ROUNDED or ((decode(torch.from_numpy(p)).numpy() > 0) == kept).all()


def test_typical_may_drop_the_most_probable_token_and_takes_equally_typical_ones_by_id():
    p = np.array([[0.4] + [0.006] * 100])
    assert typical(p, 0.5)[0, 0] == 0
    assert typical(p, 0.95)[0, 0] > 0
    p = np.array([[0.25, 0.5, 0.25], [0.5, 0.25, 0.25]])  # all are half a bit from the entropy
    np.testing.assert_allclose(typical(p, 0.2), [[1, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(typical(torch.from_numpy(p), 0.7).numpy(), [[1 / 3, 2 / 3, 0], [2 / 3, 1 / 3, 0]])


def test_eta_keeps_one_token_where_all_lie_below_the_threshold():
    assert np.flatnonzero(eta(np.full((1, 4), 0.25), 1.0)[0]).tolist() == [0]
    assert np.flatnonzero(eta(np.array([[0.2, 0.4, 0.4]]), 1.0)[0]).tolist() == [1, 2]  # exp(-H) = 0.35


@pytest.mark.parametrize("method", [epsilon, eta, top_h, top_n_sigma, p_less, p_less_norm, min_k])
@pytest.mark.parametrize("v", [3, 7, 256, 3000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_tokens_are_not_told_apart_by_rounding(method, v, dtype):
    """Also beside others that have been truncated before."""
    flat = np.full((2, v), 1 / v, dtype)
    flat[1, : v // 2] = 0
    flat[1] /= flat[1].sum()
    for p in (flat, torch.from_numpy(flat)):
        q = np.asarray(method(p))
        if method not in (epsilon, eta, top_h):  # whose thresholds are known, or a share of the tokens
            np.testing.assert_allclose(q, flat, rtol=1e-5)
        assert (q.argmax(axis=1) == [0, v // 2]).all()


@pytest.mark.parametrize("t", [0.5, 1.5, 10.0])
def test_what_logits_decide_is_the_same_at_every_temperature(t):
    p = random_rows(100, 64).astype(np.float64)
    for method in (top_n_sigma, lambda p: min_k(p, 0)):
        before, after = method(p) > 0, method(temperature(p, t)) > 0
        np.testing.assert_array_equal(before, after)
    assert ((min_p(p) > 0) != (min_p(temperature(p, t)) > 0)).any()


@pytest.mark.parametrize("settings", DECODINGS, ids=lambda s: s["name"])
@pytest.mark.parametrize("v", [5, 256])
def test_numpy_and_torch_agree(settings, v):
    p = random_rows(64, v)
    p[0] = 1 / v
    p[1] = np.eye(v)[0]
    q = decoder(settings, v)(torch.from_numpy(p))
    assert isinstance(q, torch.Tensor)
    np.testing.assert_allclose(q.numpy(), decoder(settings, v)(p), atol=1e-6)
    assert (nucleus(torch.from_numpy(p)).numpy() == nucleus(p)).all()
    assert decoder(settings)(p[:0]).shape == (0, v)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"name": "beam"}, "unknown name 'beam'"),
        ({}, "unknown name None"),
        ({"name": "top-k"}, "takes k, not none"),
        ({"name": "top-p", "p": 0.9, "k": 2}, "takes p, not k, p"),
        ({"name": "top-k", "k": 0}, "k = 0"),
        ({"name": "top-k", "k": 2.5}, "k = 2.5"),
        ({"name": "top-k", "k": 257}, "k = 257"),
        ({"name": "top-k", "k": True}, "k = True is not a whole number"),
        ({"name": "top-p", "p": 0}, "p = 0"),
        ({"name": "top-p", "p": "0.9"}, "p = '0.9' is not a number"),
        ({"name": "min-p", "min_p": 0}, "min_p = 0"),
        ({"name": "eta", "epsilon": float("nan")}, "epsilon = nan"),
        ({"name": "top-h", "alpha": 1.5}, "alpha = 1.5"),
        ({"name": "min-k", "fallback": -1}, "fallback = -1"),
        ({"name": "p-less", "p": 0.9}, "takes no setting, not p"),
        ({"name": "temperature", "temperature": float("nan")}, "temperature"),
    ],
)
def test_mistakes_in_the_config_are_named(settings, says):
    with pytest.raises(UserError, match=says):
        decoder(settings, 256)


def test_a_k_above_the_vocabulary_is_named_as_soon_as_that_is_known():
    many = decoder({"name": "top-k", "k": 300})
    assert ((many(random_rows(4, 400)) > 0).sum(axis=1) == 300).all()
    with pytest.raises(UserError, match="k = 300 is above 256, the size of the vocabulary"):
        many(random_rows(4, 256))


@pytest.mark.parametrize(("function", "value"), [(top_p, 0.0), (nucleus, 1.5), (temperature, -1.0)])
def test_functions_that_studies_call_refuse_what_they_cannot_take(function, value):
    with pytest.raises(ValueError, match=r"outside|not a positive"):
        function(random_rows(2, 4), value)
