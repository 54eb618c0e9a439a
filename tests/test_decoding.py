import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oversmoothing.jobs import UserError
from oversmoothing.scores.catalogue.decoders import methods
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.decodings.eta import eta
from oversmoothing.scores.decodings.greedy import greedy
from oversmoothing.scores.decodings.min_p import min_p
from oversmoothing.scores.decodings.pure import pure
from oversmoothing.scores.decodings.temperature import temperature
from oversmoothing.scores.decodings.top_k import top_k
from oversmoothing.scores.decodings.top_p import top_p
from oversmoothing.scores.decodings.typical import typical
from oversmoothing.scores.nucleus import nucleus

SETTINGS = [
    {"name": "pure"},
    {"name": "greedy"},
    {"name": "top-k", "k": 5},
    {"name": "top-p", "p": 0.9},
    {"name": "temperature", "temperature": 0.8},
    {"name": "min-p", "min_p": 0.05},
    {"name": "eta", "epsilon": 0.0009},
]
TYPICAL = {"name": "typical", "mass": 0.95}  # the only one that may drop the most probable token


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def random_rows(n=200, v=256, seed=0):
    rng = np.random.default_rng(seed)
    return softmax(rng.standard_normal((n, v)) * rng.uniform(0, 8, (n, 1))).astype(np.float32)


@st.composite
def distributions(draw, dtype=np.float32):
    """Rows of small counts, so that zeros and ties are common, with 1 to 40 tokens."""
    shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 40)))
    counts = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 6)))
    counts[:, draw(st.integers(0, shape[1] - 1))] += 1
    return (counts / counts.sum(axis=1, keepdims=True)).astype(dtype)


def slow_nucleus(p, tau):
    """The definition, one row and one token at a time."""
    mask = np.zeros(p.shape, bool)
    for row, probabilities in enumerate(p):
        held = 0.0
        for token in sorted(range(len(probabilities)), key=lambda i: (-probabilities[i], i)):
            mask[row, token] = True
            held += float(probabilities[token])
            if held >= tau:
                break
    return mask


@pytest.mark.parametrize("v", [1, 7, 16, 17, 50, 256, 300])
@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9, 0.999, 1.0])
def test_nucleus_is_the_shortest_prefix(v, tau):
    p = random_rows(100, v)
    np.testing.assert_array_equal(nucleus(p, tau), slow_nucleus(p, tau))


@given(distributions(np.float64), st.floats(0.011, 0.987))
def test_nucleus_with_ties(p, tau):
    cumulative = np.cumsum(-np.sort(-p, axis=1), axis=1)
    if np.abs(cumulative - tau).min() > 1e-9:  # on the edge, the order of summation decides
        np.testing.assert_array_equal(nucleus(p, tau), slow_nucleus(p, tau))


def test_no_smaller_set_holds_the_mass():
    for row in random_rows(30, 8, seed=1).astype(np.float64):
        size = nucleus(row[None], 0.9).sum()
        assert row[nucleus(row[None], 0.9)[0]].sum() >= 0.9
        for smaller in itertools.combinations(row, size - 1):
            assert sum(smaller) < 0.9


def test_ties_go_to_the_lowest_ids():
    p = np.full((3, 256), 1 / 256, np.float32)
    assert np.flatnonzero(greedy(p)[1]).tolist() == [0]
    assert np.flatnonzero(top_k(p, 3)[2]).tolist() == [0, 1, 2]
    assert np.flatnonzero(nucleus(p, 0.9)[0]).tolist() == list(range(231))  # 230/256 < 0.9
    p = np.array([[0.1, 0.3, 0.1, 0.3, 0.1, 0.1]])
    assert np.flatnonzero(nucleus(p, 0.65)[0]).tolist() == [0, 1, 3]
    assert np.flatnonzero(top_k(p, 4)[0]).tolist() == [0, 1, 2, 3]


def test_nucleus_never_exceeds_the_vocabulary_when_mass_is_missing():
    p = np.full((2, 10), 0.05, np.float32)
    assert nucleus(p, 0.9).all()


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: s["name"])
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
    for x, y in zip(p, q, strict=True):
        by_p = np.lexsort((np.arange(len(x)), -x))
        assert (np.diff(y[by_p]) <= 1e-6).all()


@given(p=distributions())
def test_limits(p):
    v = p.shape[1]
    for same in (pure(p), top_k(p, v), top_p(p, 1.0), temperature(p, 1.0)):
        np.testing.assert_array_equal(same, p)
    np.testing.assert_array_equal(top_k(p, 1), greedy(p))
    np.testing.assert_array_equal(top_p(p, 1e-6), greedy(p))


@given(p=distributions(), data=st.data())
def test_top_k_keeps_k(p, data):
    k = data.draw(st.integers(1, p.shape[1]))
    q = top_k(p, k)
    for x, y in zip(p, q, strict=True):
        kept = sorted(range(len(x)), key=lambda i: (-x[i], i))[:k]
        expected = np.zeros_like(x)
        expected[kept] = x[kept] / x[kept].sum()
        np.testing.assert_allclose(y, expected, atol=1e-6)


@pytest.mark.parametrize("t", [0.05, 0.8, 3.0])
def test_temperature_matches_logits_and_powers(t):
    z = np.random.default_rng(2).standard_normal((50, 256)) * 4
    p = softmax(z)
    np.testing.assert_allclose(temperature(p, t), softmax(z / t), rtol=1e-9, atol=1e-300)
    power = p ** (1 / t)
    np.testing.assert_allclose(temperature(p, t), power / power.sum(axis=1, keepdims=True), rtol=1e-9)


def test_temperature_of_tiny_probabilities():
    p = np.array([[1.0, 1e-38, 1e-20, 0.0]], np.float32)
    exact = p.astype(np.float64) ** (1 / 4)
    np.testing.assert_allclose(temperature(p, 4.0), exact / exact.sum(), rtol=1e-5)
    cold = temperature(p, 1e-3)
    np.testing.assert_array_equal(cold, [[1, 0, 0, 0]])


def kept_by_min_p(row, share):
    return [i for i, x in enumerate(row) if x >= share * max(row)]


def kept_by_eta(row, epsilon):
    entropy = -sum(x * math.log(x) for x in row if x > 0)
    threshold = min(epsilon, math.sqrt(epsilon) * math.exp(-entropy))
    return [i for i, x in enumerate(row) if x > threshold] or [row.index(max(row))]


def kept_by_typical(row, mass):
    entropy = -sum(x * math.log(x) for x in row if x > 0)
    distance = [round(abs(-math.log(x) - entropy), 9) if x > 0 else math.inf for x in row]
    kept, held = [], 0.0
    for i in sorted(range(len(row)), key=lambda i: (distance[i], i)):
        if held >= mass:
            break
        kept.append(i)
        held += row[i]
    return kept


RULES = {"min-p": kept_by_min_p, "eta": kept_by_eta, "typical": kept_by_typical}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("v", [1, 2, 17, 256])
@pytest.mark.parametrize("value", [0.02, 0.3, 0.9])
def test_later_truncations_are_their_definitions(name, v, value):
    key = methods()[name].parameters[0].key
    decode = decoder({"name": name, key: value})
    p = random_rows(60, v).astype(np.float64)
    p[0] = np.eye(v)[-1]
    for row, q in zip(p, decode(p), strict=True):
        kept = RULES[name](row.tolist(), value)
        expected = np.zeros(v)
        expected[kept] = row[kept] / row[kept].sum()
        np.testing.assert_allclose(q, expected, atol=1e-12)


@pytest.mark.parametrize("name", RULES)
@given(p=distributions(np.float64), value=st.floats(0.01, 1.0))
def test_later_truncations_with_ties_and_zeros(name, p, value):
    key = methods()[name].parameters[0].key
    before = p.copy()
    q = decoder({"name": name, key: value})(p)
    np.testing.assert_array_equal(p, before)
    np.testing.assert_allclose(q.sum(axis=1), 1)
    row = np.arange(len(p))
    kept = q > 0
    assert not kept[p == 0].any()
    assert name == "typical" or kept[row, p.argmax(axis=1)].all()
    assert name != "typical" or ((p * kept).sum(axis=1) >= value - 1e-9).all()
    np.testing.assert_allclose(q, p * kept / (p * kept).sum(axis=1, keepdims=True))
    torch_kept = decoder({"name": name, key: value})(torch.from_numpy(p)).numpy() > 0
    assert name == "eta" or (torch_kept == kept).all()  # its threshold may round across a probability


def test_typical_may_drop_the_most_probable_token():
    p = np.array([[0.4] + [0.006] * 100])
    assert typical(p, 0.5)[0, 0] == 0
    assert typical(p, 0.95)[0, 0] > 0


def test_equally_typical_tokens_go_by_id():
    p = np.array([[0.25, 0.5, 0.25], [0.5, 0.25, 0.25]])  # all are half a bit from the entropy
    np.testing.assert_allclose(typical(p, 0.2), [[1, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(typical(torch.from_numpy(p), 0.7).numpy(), [[1 / 3, 2 / 3, 0], [2 / 3, 1 / 3, 0]])


def test_eta_keeps_one_token_where_all_lie_below_the_threshold():
    assert np.flatnonzero(eta(np.full((1, 4), 0.25), 1.0)[0]).tolist() == [0]
    assert np.flatnonzero(eta(np.array([[0.2, 0.4, 0.4]]), 1.0)[0]).tolist() == [1, 2]  # exp(-H) = 0.35


@pytest.mark.parametrize("settings", [*SETTINGS, TYPICAL], ids=lambda s: s["name"])
@pytest.mark.parametrize("v", [5, 256])
def test_numpy_and_torch_agree(settings, v):
    p = random_rows(64, v)
    p[0] = 1 / v
    p[1], p[1, 0] = 0, 1
    q = decoder(settings, v)(torch.from_numpy(p))
    assert isinstance(q, torch.Tensor)
    np.testing.assert_allclose(q.numpy(), decoder(settings, v)(p), atol=1e-6)
    assert (nucleus(torch.from_numpy(p)).numpy() == nucleus(p)).all()


@pytest.mark.parametrize("settings", [*SETTINGS, TYPICAL], ids=lambda s: s["name"])
def test_no_rows(settings):
    assert decoder(settings)(np.empty((0, 256), np.float32)).shape == (0, 256)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"name": "beam"}, "unknown name 'beam'"),
        ({}, "unknown name None"),
        ({"name": ["pure"]}, "unknown name"),
        ({"name": "top-k"}, "takes k, not none"),
        ({"name": "top-p", "p": 0.9, "k": 2}, "takes p, not k, p"),
        ({"name": "top-k", "k": 0}, "k = 0"),
        ({"name": "top-k", "k": 2.5}, "k = 2.5"),
        ({"name": "top-k", "k": float("nan")}, "k = nan"),
        ({"name": "top-k", "k": 257}, "k = 257"),
        ({"name": "top-k", "k": True}, "k = True is not a whole number"),
        ({"name": "top-p", "p": 0}, "p = 0"),
        ({"name": "top-p", "p": 1.1}, "p = 1.1"),
        ({"name": "top-p", "p": "0.9"}, "p = '0.9' is not a number"),
        ({"name": "min-p", "min_p": 0}, "min_p = 0"),
        ({"name": "min-p", "share": 0.1}, "takes min_p, not share"),
        ({"name": "typical", "mass": 1.5}, "mass = 1.5"),
        ({"name": "eta", "epsilon": float("nan")}, "epsilon = nan"),
        ({"name": "temperature", "temperature": 0}, "temperature"),
        ({"name": "temperature", "temperature": float("nan")}, "temperature"),
    ],
)
def test_mistakes_in_the_config_are_named(settings, says):
    with pytest.raises(UserError, match=says):
        decoder(settings, 256)


def test_a_k_above_the_vocabulary_is_named_as_soon_as_that_is_known():
    many = decoder({"name": "top-k", "k": 300})
    p = random_rows(4, 400)
    assert ((many(p) > 0).sum(axis=1) == 300).all()
    with pytest.raises(UserError, match="k = 300 is above 256, the size of the vocabulary"):
        many(random_rows(4, 256))


def test_functions_refuse_what_the_config_cannot_know():
    p = random_rows(2, 4)
    for call in (
        lambda: top_k(p, 5),
        lambda: top_p(p, 0.0),
        lambda: nucleus(p, 1.5),
        lambda: temperature(p, -1.0),
        lambda: min_p(p, 0.0),
        lambda: typical(p, 1.1),
        lambda: eta(p, -0.1),
    ):
        with pytest.raises(ValueError, match=r"outside|not a positive"):
            call()


def test_importing_needs_no_torch():
    import subprocess
    import sys

    code = "import sys; import oversmoothing.scores.metrics; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})
