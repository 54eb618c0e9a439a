"""Decoding and scoring rows of thousands of tokens: equal to sorting whole rows, and to float64."""

import math
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from made_scores import BY_FORMULAS, DECODINGS, by_formulas

from oversmoothing.scores import metrics
from oversmoothing.scores import nucleus as selections
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.decodings.pure import pure
from oversmoothing.scores.decodings.top_k import top_k
from oversmoothing.scores.decodings.top_p import top_p
from oversmoothing.scores.decodings.typical import typical
from oversmoothing.scores.nucleus import nucleus

SETTINGS = [*DECODINGS, {"name": "top-k", "k": 256}]
SIZES = (8192, 50304)


def rows(v, dtype=np.float32, seed=0):
    """Six models over v tokens, from nearly certain to flat, with frequent tokens and rare ones, ties and zeros."""
    rng = np.random.default_rng(seed)
    rarity = np.log(np.arange(1, v + 1))[rng.permutation(v)]
    logits = rng.standard_normal((6, v)) * np.array([[6], [3], [2], [1], [0], [3]]) - rarity
    logits[4] = 0
    logits[5] = np.round(logits[5])  # ties
    logits[5, rng.permutation(v)[: v // 2]] = -np.inf
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (p / p.sum(axis=1, keepdims=True)).astype(dtype)


@st.composite
def many(draw):
    """Rows of small counts, some rows flat, so that zeros and ties are common: 1 to 3 of 2,049 to 2,400 tokens."""
    n, v = draw(st.integers(1, 3)), draw(st.integers(selections.LARGE + 1, 2400))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    counts = rng.poisson(draw(st.sampled_from([0.001, 0.1, 3.0, 1000.0])), (n, v)).astype(float)
    counts **= draw(st.sampled_from([0, 1, 3]))  # 0 makes them flat
    counts[:, draw(st.integers(0, v - 1))] += draw(st.sampled_from([1, 1000, 10**6]))
    some = draw(hnp.arrays(np.int64, (n, 5), elements=st.integers(0, v - 1)))
    np.put_along_axis(counts, some, draw(st.sampled_from([0, 1, 50])), axis=1)
    counts[:, 0] += counts.sum(axis=1) == 0
    return (counts / counts.sum(axis=1, keepdims=True)).astype(draw(st.sampled_from([np.float32, np.float64])))


MASSES = st.one_of(st.sampled_from([0.5, 0.9, 0.999999, 1.0]), st.floats(1e-6, 1.0, exclude_min=True))


def whole(function, *arguments):
    """Call with whole rows sorted, as for few tokens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selections, "LARGE", 1 << 60)
        return function(*arguments)


@pytest.mark.parametrize("function", [lambda p, mass: nucleus(p, mass, 64), typical])
@given(p=many(), mass=MASSES)
def test_what_holds_a_mass_is_that_of_whole_rows(function, p, mass):
    """Also where half of the mass is missing, which makes every token a candidate."""
    for held in (p, p / 2):
        np.testing.assert_array_equal(function(held, mass), whole(function, held, mass))


@given(many(), st.one_of(st.integers(1, 300), st.integers(1, 2049)))
def test_top_k_is_that_of_whole_rows(p, k):
    np.testing.assert_array_equal(top_k(p, k), whole(top_k, p, k))


@pytest.mark.parametrize("v", SIZES)
@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: "-".join(map(str, s.values())))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_decodings_are_those_of_whole_rows(v, settings, dtype):
    decode, p = decoder(settings, v), rows(v, dtype)
    np.testing.assert_array_equal(decode(p), whole(decode, p))


@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
@pytest.mark.parametrize(("v", "dtype"), [(8192, np.float32), (8192, np.float64), (50304, np.float32)])
def test_scores_are_those_of_float64(library, v, dtype):
    """To 1e-6, the rounding of the value itself included; torch's sums in float32 would be off by 1e-3."""
    p_gt, p_bn = rows(v, dtype), rows(v, dtype, seed=1)
    p_bn = (0.7 * p_gt + 0.3 * p_bn).astype(dtype)
    decoders = [decoder(settings, v) for settings in SETTINGS]
    values = np.asarray(metrics.score(library(p_bn), library(p_gt), decoders, BY_FORMULAS))
    for i, decode in enumerate(decoders):
        decoded = np.asarray(decode(library(p_bn))).astype(float)
        expected = np.array([by_formulas(*pair, 0.9) for pair in zip(decoded, p_gt.astype(float), strict=True)]).T
        np.testing.assert_allclose(values[i], expected, atol=1e-6 if dtype == np.float32 else 1e-9, rtol=0)


def test_entropy_keeps_the_dtype():
    for v in (256, *SIZES):
        bits = metrics.entropy(np.full((2, v), 1 / v, np.float32))
        assert bits.dtype == np.float32
        np.testing.assert_allclose(bits, math.log2(v), rtol=1e-6)


@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_chunks_change_no_value(library, monkeypatch):
    p_gt, p_bn = library(rows(8192)), library(rows(8192, seed=1))
    together = metrics.score(p_bn, p_gt, [pure, top_p])
    monkeypatch.setattr(metrics, "_VALUES", 1)
    monkeypatch.setattr(metrics, "_VALUES_ON_GPU", 1)
    np.testing.assert_array_equal(metrics.score(p_bn, p_gt, [pure, top_p]), together)


@pytest.mark.parametrize("v", SIZES)
def test_memory_does_not_grow_with_positions(v):
    """Temporaries are of a chunk: a small part of the arrays that are scored, however many rows they have."""
    decoders = [decoder(settings, v) for settings in SETTINGS]
    peaks = []
    for repeats in (3, 6):
        p_gt, p_bn = np.tile(rows(v), (repeats, 1)), np.tile(rows(v, seed=1), (repeats, 1))
        tracemalloc.start()
        metrics.score(p_bn, p_gt, decoders)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks) < 12 << 20
    assert peaks[1] < peaks[0] + (1 << 18)
