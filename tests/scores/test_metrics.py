"""The metrics against their formulas, their bounds, and what they refuse."""

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as st
from made_scores import by_formulas, distributions

from oversmoothing.scores import metrics
from oversmoothing.scores.catalogue.metrics import OF_DISTRIBUTIONS
from oversmoothing.scores.decodings.greedy import greedy
from oversmoothing.scores.decodings.pure import pure
from oversmoothing.scores.decodings.top_p import top_p

TESTED = {
    function.__name__: function
    for function in (metrics.tto, metrics.nsmd, metrics.tv, metrics.kl, metrics.entropy_difference)
}


def random_pair(n=700, v=256, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((n, v)) * rng.uniform(0, 9, (n, 1))
    model = truth * 0.6 + rng.standard_normal((n, v))
    return tuple(scipy.special.softmax(z, axis=1).astype(dtype) for z in (model, truth))


def test_the_example_of_the_thesis():
    """Section 4.1.2: truth [0.8, 0.2, 0], tau 0.7; NSMD and TV follow from the same numbers."""
    p_gt = np.array([[0.8, 0.2, 0.0]] * 2)
    p_bn = np.array([[0.7, 0.2, 0.1], [0.8, 0.0, 0.2]])
    np.testing.assert_array_equal(metrics.nucleus(p_gt, 0.7), [[True, False, False]] * 2)
    np.testing.assert_allclose(metrics.tto(p_bn, p_gt, 0.7), [0.1, 0.2])
    np.testing.assert_allclose(metrics.nsmd(p_bn, p_gt, 0.7), [0.1, 0.0], atol=1e-15)
    np.testing.assert_allclose(metrics.tv(p_bn, p_gt), [0.1, 0.2])


def test_kl_of_greedy_is_bounded_by_the_clip():
    p_gt = np.array([[0.5, 0.5]])
    expected = 0.5 * math.log(0.5) + 0.5 * math.log(0.5 / 1e-9)
    np.testing.assert_allclose(metrics.kl(np.array([[1.0, 0.0]]), p_gt), expected)


def test_entropies_in_bits():
    p = np.array([[0.25] * 4, [1.0, 0, 0, 0]])
    np.testing.assert_allclose(metrics.entropy(p), [2, 0], atol=1e-12)
    np.testing.assert_allclose(metrics.entropy_difference(p, p[::-1].copy()), [-2, 2])


@pytest.mark.parametrize("v", [2, 16, 100, 256])
@pytest.mark.parametrize("tau", [0.3, 0.9])
def test_score_agrees_with_independent_code(v, tau):
    p_bn, p_gt = random_pair(600, v)
    decodings = [pure, greedy, top_p]
    values = metrics.score(p_bn, p_gt, decodings, tuple(TESTED), tau)
    assert values.dtype == np.float32
    assert values.shape == (3, len(TESTED), 600)
    for i, decode in enumerate(decodings):
        rows = zip(decode(p_bn).astype(np.float64), p_gt.astype(np.float64), strict=True)
        expected = np.array([by_formulas(q, p, tau) for q, p in rows]).T
        np.testing.assert_allclose(values[i, :3], expected[:3], atol=2e-6)
        np.testing.assert_allclose(values[i, 3:], expected[3:], atol=2e-5)


def test_each_metric_alone_agrees_with_score():
    p_bn, p_gt = random_pair(50)
    together = dict(zip(OF_DISTRIBUTIONS, metrics.score(p_bn, p_gt, [pure])[0], strict=True))
    for name, function in TESTED.items():
        np.testing.assert_array_equal(together[name], function(p_bn, p_gt))
    np.testing.assert_array_equal(metrics.score(p_bn, p_gt, [pure], ["kl"])[0, 0], together["kl"])
    np.testing.assert_allclose(metrics.entropy(p_gt), scipy.stats.entropy(p_gt, base=2, axis=1), atol=1e-5)


@given(distributions(np.float64, leading=(2,)), st.floats(0.05, 1.0))
def test_invariants(both, tau):
    p_bn, p_gt = both
    tto, nsmd, tv, kl, _ = metrics.score(p_bn, p_gt, [pure], tuple(TESTED), tau)[0]
    small = 1e-12
    outside = ~metrics.nucleus(p_gt, tau)
    np.testing.assert_allclose(nsmd, -np.where(outside, p_gt - p_bn, 0).sum(axis=1), atol=small)  # appendix C
    np.testing.assert_allclose(tv, metrics.tv(p_gt, p_bn), atol=small)
    assert (tto >= 0).all()
    assert (tto <= tv + small).all()
    assert (tv <= 1 + small).all()
    assert (nsmd <= tto + small).all()
    assert (kl >= -1e-7).all()  # the clip adds up to 1e-9 a token
    assert (2 * tv**2 <= kl + 1e-7).all()  # Pinsker
    same = metrics.score(p_gt, p_gt, [pure], tuple(TESTED), tau)[0]
    np.testing.assert_allclose(same, 0, atol=small)


@pytest.mark.parametrize("value", [math.nan, -1e-6, 2.0, math.inf])
@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy])
def test_what_is_no_probability_is_refused_by_name(value, library):
    p_bn, p_gt = random_pair(600)
    bad = p_gt.copy()
    bad[555, 7] = value
    with pytest.raises(ValueError, match="p_gt: row 555"):
        metrics.tto(library(p_bn), library(bad))
    with pytest.raises(ValueError, match="p_bn: row 555"):
        metrics.kl(library(bad), library(p_gt))
    with pytest.raises(ValueError, match="row 555"):
        metrics.entropy(library(bad))


def test_other_mistakes_are_refused_by_name():
    p_bn, p_gt = random_pair(4)
    for says, refused in {
        r"p_bn \(4, 256\) and p_gt \(3, 256\)": lambda: metrics.tv(p_bn, p_gt[:3]),
        "have the same shape": lambda: metrics.tv(p_bn[0], p_gt[0]),
        "float64": lambda: metrics.tv(p_bn, p_gt.astype(np.float64)),
        "float32": lambda: metrics.tv(p_bn.astype(np.float16), p_gt.astype(np.float16)),
        "unknown metric 'tbat'": lambda: metrics.score(p_bn, p_gt, [pure], ["tbat"]),
        "outside": lambda: metrics.tto(p_bn, p_gt, 0.0),
    }.items():
        with pytest.raises(ValueError, match=says):
            refused()


def test_softmax_is_stable():
    logits = np.array([[1e4, 1e4 - 1, -np.inf], [-1e4, -1e4, -1e4]], np.float32)
    p = metrics.softmax(logits)
    assert p.dtype == np.float32
    np.testing.assert_allclose(p, scipy.special.softmax(logits.astype(np.float64), axis=1), rtol=1e-6)
    for value in (np.nan, np.inf):
        logits[1, 2] = value
        with pytest.raises(ValueError, match="logits: row 1"):
            metrics.softmax(logits)


def test_the_truth_on_what_kl_clips_is_its_mass_there():
    p_gt = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]])
    p_bn = np.array([[1 - 1e-9 - 1e-12, 1e-9, 1e-12], [1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(metrics.clipped(p_bn, p_gt), [0.25, 0.0])
