"""Truths and heads at random, what SciPy and 60 digits find of them, and what a projection's bracket has to hold."""

import mpmath
import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax


def truths(rng, n, v, scale=2.0):
    """Draw n distributions over v tokens."""
    return np.exp(log_softmax(rng.normal(size=(n, v)) * scale, axis=1))


def spectrum(rng, v, r):
    """Return a head whose first column is the logarithm of a frequency, and whose others decay."""
    weights = rng.normal(size=(v, r)) * np.arange(1, r + 1) ** -0.4
    weights[:, 0] = -0.8 * np.log(np.arange(1, v + 1))
    return weights


def near_an_edge(eta):
    """Return a head whose first two rows are an edge; the third lies eta below it and the fourth 1."""
    return np.array([[-1, 0], [1, 0], [0, -eta], [0, -1]])


def beside_a_face(seed, r, eta, tiny):
    """Return a head, of which three to five rows lie on a face, some eta below it and the others 1, and a truth."""
    rng = np.random.default_rng(seed)
    on, near, far = rng.integers([3, 1, 1], 6)
    below = np.repeat([0, eta, 1], [on, near, far]) * rng.uniform(0.5, 2, on + near + far)
    p = np.where(below == 0, 0.0, tiny)
    p[:on] = rng.dirichlet(np.full(on, 0.5))
    return np.column_stack([rng.normal(size=(len(p), r - 1)), -below]), p / p.sum(), on


CUBE = [[x, y, z] for z in (1, -1) for x in (1, -1) for y in (1, -1)]  # the first four are a face
LINE = [[1, 1], [1, 0], [1, -1], [-1, 1], [-1, -1]]  # so are the first three
# heads and truths on a face of a polytope or near one, and q*: off the face it is 0, on it rows have the truth's mean
BY_HAND = [
    ([[1, 1], [1, -1], [-1, 1], [-1, -1]], [1, 0, 0, 0], [1, 0, 0, 0]),
    ([[1, 1], [1, -1], [-1, 1], [-1, -1]], [0.7, 0.3, 0, 0], [0.7, 0.3, 0, 0]),
    (LINE, [0.5, 0, 0.5, 0, 0], [1 / 3] * 3 + [0] * 2),
    (LINE, [0.2, 0.6, 0.2, 0, 0], [1 / 3] * 3 + [0] * 2),
    ([*LINE[:3], [0.999, 0.5], [-1, 0]], [0.2, 0.6, 0.2, 0, 0], [1 / 3] * 3 + [0] * 2),
    (CUBE, [0.5, 0, 0, 0.5, 0, 0, 0, 0], [0.25] * 4 + [0] * 4),
    (CUBE, [0.4, 0.2, 0.2, 0.2, 0, 0, 0, 0], [0.36, 0.24, 0.24, 0.16, 0, 0, 0, 0]),
    ([[0, 0], [0, 0], [1, 2], [2, 1]], [0.9, 0.1, 0, 0], [0.5, 0.5, 0, 0]),
    *((near_an_edge(eta), [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0]) for eta in (1e-1, 1e-2, 3e-3, 1e-3, 1e-4)),
    *((near_an_edge(eta), q := softmax([0, 0, -23, -23 / eta]), q) for eta in (1e-1, 1e-2, 1e-3, 1e-4)),
]


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


def to_sixty_digits(weights, p):
    """Return the least divergence from p (v,) of a head whose rows span all r dimensions.

    Newton's method in numbers of 60 digits. It ends once a distribution with the truth's moments proves 1e-25.
    """
    with mpmath.workdps(60):
        rows, h = mpmath.matrix(np.asarray(weights, float).tolist()), mpmath.matrix([0] * weights.shape[1])
        p = [mpmath.mpf(float(x)) for x in p]
        p = [x / mpmath.fsum(p) for x in p]
        for _ in range(400):
            e = [mpmath.exp(z) for z in rows * h]
            q = [x / mpmath.fsum(e) for x in e]
            mean = rows.T * mpmath.matrix(q)
            away = [rows[i, :] - mean.T for i in range(len(q))]
            hessian = mpmath.matrix(len(h), len(h))
            for a in range(len(h)):
                for b in range(len(h)):
                    hessian[a, b] = mpmath.fsum(x * u[a] * u[b] for x, u in zip(q, away, strict=True))
            gradient = rows.T * mpmath.matrix(p) - mean
            step = mpmath.lu_solve(hessian, gradient)
            change = [mpmath.fdot(u, step) for u in away]
            if min(change) > -1:
                gap = mpmath.fsum(x * ((1 + c) * mpmath.log(1 + c) - c) for x, c in zip(q, change, strict=True))
                if gap < 1e-25:
                    return float(mpmath.fsum(x * mpmath.log(x / y) for x, y in zip(p, q, strict=True) if x))
            h += step * _length(q, change)
    raise AssertionError("no proof in 400 steps")


def _length(q, change):
    """A power of 2 up to which the divergence still falls along a step."""
    s, start = mpmath.mpf(1), mpmath.fsum(x * c * c for x, c in zip(q, change, strict=True))

    def falls(s):
        grown = [x * mpmath.exp(s * c) for x, c in zip(q, change, strict=True)]
        return mpmath.fdot(grown, change) / mpmath.fsum(grown) <= start

    while falls(2 * s):
        s *= 2
    while not falls(s):
        s /= 2
    return s
