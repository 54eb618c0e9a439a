"""Truths at random, what SciPy finds of them, and the assertion that a projection's bracket holds a value."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax


def truths(rng, n, v, scale=2.0):
    """Draw n distributions over v tokens."""
    return np.exp(log_softmax(rng.normal(size=(n, v)) * scale, axis=1))


def assert_bracket_holds(nearest, exact, rounding=1e-12):
    """Assert that `exact`, (n,), lies in [forced - gap, forced]."""
    assert (nearest.forced >= exact - rounding).all()
    assert (nearest.forced - nearest.gap <= exact + rounding).all()


def by_scipy(weights, p):
    """Return the least divergence of a distribution (v,) from those of a head that L-BFGS-B finds."""
    some = p > 0

    def distance(h):
        log_q = log_softmax(weights @ h)
        return float(p[some] @ (np.log(p[some]) - log_q[some])), weights.T @ (np.exp(log_q) - p)

    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 30}
    return minimize(distance, np.zeros(weights.shape[1]), jac=True, method="L-BFGS-B", options=options).fun
