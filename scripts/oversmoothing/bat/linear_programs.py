"""BAT-reject sets as the thesis computed them: one linear program for every token of every position.

Slow, and independent of `reject`: the baseline of the cost table (thesis Table I.1) and the reference of the tests.
"""

import numpy as np
from scipy.optimize import linprog

from oversmoothing.numerics.distributions import distributions
from oversmoothing.numerics.log_ratio import DELTA

TOLERANCE = 1e-10  # the smallest HiGHS takes; SciPy's default, 1e-7, decides some tokens wrongly
REACH = 1e6  # limit on the change of any token in units of p_i, so that sums stay accurate to the tolerance
FEASIBLE, INFEASIBLE = 0, 2  # status codes of linprog


def reject_set_by_linear_programs(weights: np.ndarray, p: np.ndarray, delta: float = DELTA) -> np.ndarray:
    """Return the BAT-reject set, bool (v,), of one distribution (v,) under a head (v, d), computed with SciPy's HiGHS.

    Token i is in the set if there is q with q_i = 0, sum q = 1, 0 <= q <= p e^delta and W^T q = W^T p (thesis 4.1.6 and
    appendix D; M. Finlayson, J. Hewitt, A. Koller, S. Swayamdipta and A. Sabharwal, "Closing the curious case of neural
    text degeneration", ICLR 2024). The unknowns are z = (p - q) / p_i, so that z_i = 1, the others lie between
    -(e^delta - 1) p_j / p_i and p_j / p_i, and [W, 1]^T z = 0. In terms of q, a tolerance of 1e-10 would let every
    token with less mass vanish; in terms of z it is small relative to the token in question, however rare. For the same
    reason the columns of W are centred and normalised, neither of which changes the set.

    Tokens with p_i >= 1 - e^-delta are accepted without a program, as in the thesis, because the others cannot hold all
    the mass. Tokens with p_i = 0 are in the set. A `ValueError` is raised if p is no distribution
    or delta is negative, and a `RuntimeError` if HiGHS decides a token neither way.
    """
    weights, p = np.asarray(weights, np.float64), np.asarray(p, np.float64)
    if p.ndim != 1 or not delta >= 0:
        raise ValueError(f"p {p.shape} must be (v,), and delta {delta} at least 0")
    p = distributions(p, len(weights))[0]
    constraints = constraint_matrix(weights)
    rejected = p == 0
    for token in np.flatnonzero((p > 0) & (p < -np.expm1(-delta))).tolist():
        rejected[token] = feasible(constraints, p, delta, token)
    return rejected


def constraint_matrix(weights: np.ndarray) -> np.ndarray:
    """Return [W, 1]^T with entries of order 1, without the constant columns of W, which add no constraint."""
    centred = weights - weights.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    varies = lengths > 1e-12 * np.linalg.norm(weights, axis=0)
    centred = centred[:, varies] / lengths[varies] * np.sqrt(len(weights))
    return np.concatenate([centred, np.ones((len(weights), 1))], axis=1).T


def feasible(constraints: np.ndarray, p: np.ndarray, delta: float, token: int) -> bool:
    """Return whether one token's linear program, given `constraint_matrix`, has a solution, so that BAT rejects it."""
    with np.errstate(over="ignore"):
        most = p / p[token]
    least = -np.minimum(np.expm1(delta) * most, REACH)
    most = np.minimum(most, REACH)
    least[token] = most[token] = 1.0
    result = linprog(
        np.zeros(len(p)),
        A_eq=constraints,
        b_eq=np.zeros(len(constraints)),
        bounds=np.column_stack([least, most]),
        method="highs",
        options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
    )
    if result.status not in (FEASIBLE, INFEASIBLE):
        raise RuntimeError(
            f"token {token} with p = {p[token]:.3g}: HiGHS gave status {result.status}, {result.message}"
        )
    return result.status == FEASIBLE
