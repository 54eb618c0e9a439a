"""Whether a head can give a set of tokens all probability, in any proportions that its rows allow.

softmax(b + W h) tends to a distribution on the set N alone, as h goes to infinity, if and only if some y has the same
w_i^T y at all tokens of N and a smaller one at all others: the rows of N, and no others, lie on a face of the polytope
that all rows span. The bias does not matter. Off the directions in which the rows of N differ, let a_j be the direction
from them to the row of token j. N is a face if and only if 0 is not a convex combination of the a_j: then the shortest
of those combinations is minus such a y. For one token this is argmaxability.

References
----------
G. Ziegler, "Lectures on polytopes", 1995, sections 0 (cyclic polytopes) and 2 (faces).
"""

import numpy as np
from scipy.optimize import nnls

MARGIN = 1e-9  # cosine that separates, and length of a combination that is 0
DEPENDENT = 1e-10  # share of the longest difference below which a length is rounding
GUESSES = 20

NO, YES, UNDECIDED = 0, 1, -1


def faces(columns: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Return whether each set of tokens, bool (n, v), is a face of the polytope of a head's rows, int8 (n,).

    `columns` (v, m) are the rows, in any coordinates of full rank, such as `head.Head.columns`. YES, NO, or UNDECIDED
    where rounding hides the answer.
    """
    return np.array([_is_face(columns, inside) for inside in sets], np.int8)


def _is_face(columns: np.ndarray, inside: np.ndarray) -> int:
    mine, others = columns[inside], columns[~inside]
    if not len(others):
        return YES
    away = others - mine[0]
    if len(mine) > 1:
        differences = mine[1:] - mine[0]
        _, s, vt = np.linalg.svd(differences, full_matrices=False)
        within = vt[s > DEPENDENT * s[0]] if s[0] > 0 else vt[:0]
        if len(within) == columns.shape[1]:
            return NO  # the rows of N span everything, the other rows too
        away = away - away @ within.T @ within
    lengths = np.linalg.norm(away, axis=1)
    if (lengths <= DEPENDENT * np.linalg.norm(others - mine[0], axis=1).max()).any():
        return NO  # a row between those of N
    away /= lengths[:, None]
    y = _guess(away)
    if (away @ y).max() < -MARGIN:
        return YES
    system = np.vstack([away.T, np.ones(len(away))])
    target = np.zeros(len(system))
    target[-1] = 1
    weights, _ = nnls(system, target, maxiter=30 * system.shape[1])
    shortest = weights @ away / weights.sum()
    if (away @ shortest).min() > MARGIN:
        return YES
    return NO if np.linalg.norm(shortest) < MARGIN else UNDECIDED


def _guess(away: np.ndarray) -> np.ndarray:
    """Return a y against which most directions lie, moved away from the worst of them a few times."""
    y = -away.mean(axis=0)
    for _ in range(GUESSES):
        products = away @ y
        worst = products.argmax()
        if products[worst] < -MARGIN:
            break
        y = y - 1.1 * (products[worst] + 0.05 * np.sqrt(y @ y)) * away[worst]
    return y / max(np.sqrt(y @ y), 1e-300)
