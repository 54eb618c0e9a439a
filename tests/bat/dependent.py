"""Heads whose likeliest rows are dependent, with a tail that is not, and linear programs that judge their tokens."""

import numpy as np
from scipy.linalg import qr
from scipy.optimize import linprog

FAMILIES = ("equal", "subspace", "complement", "tiny", "mixed")
HEAVY = 1e-3  # tokens from this probability on are judged
CERTAIN = 1e-5  # minima below are zero; HiGHS holds constraints to 1e-7


def draw(family: str, v: int, d: int, rest: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a head (v, d) and a distribution (v,): 12 (d + 1) likely tokens, 2 to d more, and `rest` on each other.

    The likely tokens span less than the others do: one point ("equal"), a random subspace with other rows, all of the
    space ("subspace"), only the rest of it ("complement") or hardly more of it ("tiny"), or some repeat ("mixed").
    """
    generator = np.random.default_rng([FAMILIES.index(family), v, d, seed])
    likely, more = 12 * (d + 1), int(generator.integers(2, d + 1))
    weights = generator.normal(size=(v, d))
    span = 1 if family == "equal" else int(generator.integers(1, d))
    if family == "equal":
        weights[:likely] = np.eye(d)[0]
        weights[likely:, 0] = 0
    elif family == "mixed":
        weights[:likely] = weights[generator.integers(0, span + 1, likely)]
    else:
        weights[:likely, span:] = 0
        weights[likely:, :span] *= family != "complement"
        weights[likely : likely + more, span:] *= 1e-7 if family == "tiny" else 1
        weights = weights @ np.linalg.qr(generator.normal(size=(d, d)))[0]
    p = np.full(v, rest)
    tail = float(generator.choice([0.05, 0.24, 0.5]))
    p[:likely] = (1 - tail) * generator.dirichlet(np.full(likely, 20.0))
    p[likely : likely + more] = tail * generator.dirichlet(np.full(more, 5.0))
    return weights, p / p.sum()


def lowest(weights: np.ndarray, p: np.ndarray, tokens: np.ndarray, bound: float) -> np.ndarray:
    """Smallest q_i / p_i of some tokens, each by HiGHS on constraints of size 1 in every direction that p has.

    HiGHS drops coefficients below 1e-9, so variables are in units of what a token can hold at most, and constraints are
    rows of a QR factorisation with pivoting, divided by their largest entry: directions in which only rare tokens
    differ count as much as others.
    """
    most = np.minimum(bound, 1 / p)
    columns = ((p * most)[:, None] * np.linalg.qr(np.concatenate([weights, np.ones((len(p), 1))], axis=1))[0]).T
    _, triangle, order = qr(columns, mode="economic", pivoting=True)
    size = abs(triangle.diagonal())
    rank = int((size > 1e-14 * size[0]).sum())
    constraints = np.empty((rank, len(p)))
    constraints[:, order] = triangle[:rank] / size[:rank, None]
    minima = []
    for token in tokens:
        cost = np.zeros(len(p))
        cost[token] = 1
        box = np.stack([np.zeros(len(p)), bound / most], axis=1)
        solution = linprog(cost, A_eq=constraints, b_eq=constraints @ (1 / most), bounds=box, method="highs")
        minima.append(solution.fun * most[token] if solution.status == 0 else np.nan)
    return np.array(minima)
