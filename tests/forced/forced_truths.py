"""Truths at random, and the assertion that a projection's bracket holds a value."""

import numpy as np
from scipy.special import log_softmax


def truths(rng, n, v, scale=2.0):
    """Draw n distributions over v tokens."""
    return np.exp(log_softmax(rng.normal(size=(n, v)) * scale, axis=1))


def assert_bracket_holds(nearest, exact, rounding=1e-12):
    """Assert that `exact`, (n,), lies in [forced - gap, forced]."""
    assert (nearest.forced >= exact - rounding).all()
    assert (nearest.forced - nearest.gap <= exact + rounding).all()
