"""Prove a decision of `reject_set` in exact arithmetic, from the head itself and the basis that decided it.

Floats are fractions, so nothing here rounds: the head W, the distribution p and the bound E = e^delta (the float) are
taken as they stand. With C = [W, 1] the question is whether some q has C^T q = C^T p, 0 <= q <= E p and q_i = 0.

* Rejected: a q. Every nonbasic token rests at 0, p or E p; the basic ones then follow from C^T q = C^T p. The proof
  holds if those lie in their bounds and q_i = 0.
* Accepted: a combination y of the constraints with (C y)_i = 1 and (C y)_b = 0 for the other basic tokens. For
  t = p * (C y) over the nonbasic ones, every q of the box has q_i >= p_i - sum max(t (E - 1), -t). The proof holds if
  that is above 0.
* Accepted without a basis: p_i > 1 - 1/E, or the rows of C on the support are independent, so that q = p is the only
  solution. That rank is taken modulo a prime, where it can only come out lower than it is.
"""

import math
from fractions import Fraction

import numpy as np

from oversmoothing.bat.reject import RejectSet

PRIME = 2**31 - 1


def proves(weights: np.ndarray, sets: RejectSet, position: int, token: int, bound: float) -> bool:
    """Check the certificate of one decision in exact arithmetic.

    Parameters
    ----------
    weights : array, shape (v, d)
        The head that `reject_set` was prepared with.
    sets : RejectSet
        Made with ``certificates=True``.
    position, token : int
    bound : float
        E = e^delta.

    Returns
    -------
    bool
        Whether the decision is proved; False for an undecided token. Takes about m^3 / 3 products of long integers:
        milliseconds at rank 32, seconds at 128.

    Raises
    ------
    ValueError
        If `sets` holds no certificates.
    """
    if sets.certificates is None:
        raise ValueError("the reject sets were made without certificates; pass certificates=True")
    p = sets.p[position]
    if p[token] == 0:
        return bool(sets.rejected[position, token])
    if sets.undecided[position, token]:
        return False
    support = np.flatnonzero(p)
    constraints = np.concatenate([np.asarray(weights, np.float64), np.ones((len(p), 1))], axis=1)[support]
    place = {name: i for i, name in enumerate(support.tolist())}
    basic = [place[name] for name in sets.certificates.basis[position, token].tolist() if name >= 0]
    rest = sets.certificates.rest[position, token, support]
    if sets.rejected[position, token]:
        return _rejects(_exact(constraints), _fractions(p[support]), place[token], basic, rest, Fraction(bound))
    if not basic:
        heavy = Fraction(p[token]) * Fraction(bound) > Fraction(bound) - sum(_fractions(p[support]))
        return heavy or bound == 1 or _independent(constraints)
    return _accepts(_exact(constraints), _fractions(p[support]), place[token], basic, Fraction(bound))


def _rejects(
    constraints: list[list[int]], p: list[Fraction], token: int, basic: list[int], rest: np.ndarray, bound: Fraction
) -> bool:
    q = [
        weight * (Fraction(0), Fraction(1), bound)[where] if where < 3 else Fraction(0)
        for weight, where in zip(p, rest.tolist(), strict=True)
    ]
    missing = [weight - part for weight, part in zip(p, q, strict=True)]
    right = [
        sum(row[k] * gap for row, gap in zip(constraints, missing, strict=True) if gap)
        for k in range(len(constraints[0]))
    ]
    solved = _solve([[constraints[b][k] for b in basic] for k in range(len(right))], right)
    if solved is None:
        return False
    for b, value in zip(basic, solved, strict=True):
        q[b] = value
    return q[token] == 0 and all(0 <= part <= bound * weight for part, weight in zip(q, p, strict=True))


def _accepts(constraints: list[list[int]], p: list[Fraction], token: int, basic: list[int], bound: Fraction) -> bool:
    y = _solve([constraints[b] for b in basic], [Fraction(b == token) for b in basic])
    if y is None:
        return False
    fall = Fraction(0)
    for row, weight in zip(constraints, p, strict=True):
        t = weight * sum(a * b for a, b in zip(row, y, strict=True) if a and b)
        fall += max(t * (bound - 1), -t) if row is not constraints[token] else 0
    return fall < p[token]


def _solve(matrix: list[list[int]], right: list[Fraction]) -> list[Fraction] | None:
    """Return a solution of a linear system, free unknowns at zero, by fraction-free elimination (Bareiss 1968)."""
    scale = math.lcm(*(value.denominator for value in right))
    rows = [[*row, int(value * scale)] for row, value in zip(matrix, right, strict=True)]
    columns = len(matrix[0])
    pivots: list[int] = []
    previous = 1
    for column in range(columns):
        done = len(pivots)
        chosen = next((i for i in range(done, len(rows)) if rows[i][column]), None)
        if chosen is None:
            continue
        rows[done], rows[chosen] = rows[chosen], rows[done]
        pivot = rows[done]
        for i in range(done + 1, len(rows)):
            factor = rows[i][column]
            rows[i] = [
                (pivot[column] * a - factor * b) // previous if k > column else 0
                for k, (a, b) in enumerate(zip(rows[i], pivot, strict=True))
            ]
        previous = pivot[column]
        pivots.append(column)
    if any(row[columns] for row in rows[len(pivots) :]):
        return None
    solution = [Fraction(0)] * columns
    for row, column in reversed(list(zip(rows, pivots, strict=False))):
        known = sum(row[k] * solution[k] for k in range(column + 1, columns) if solution[k])
        solution[column] = Fraction(row[columns] - known) / row[column]
    return [value / scale for value in solution]


def _exact(values: np.ndarray) -> list[list[int]]:
    """Return a matrix of floats as integers, each column times a power of two, which changes no solution q."""
    scaled = []
    for column in values.T.tolist():
        denominator = max(Fraction(value).denominator for value in column)
        scaled.append([int(Fraction(value) * denominator) for value in column])
    return [list(row) for row in zip(*scaled, strict=True)]


def _fractions(values: np.ndarray) -> list[Fraction]:
    return [Fraction(value) for value in values.tolist()]


def _independent(values: np.ndarray) -> bool:
    """Prove that the rows of a matrix are independent, by elimination modulo a prime."""
    matrix = np.array([[value % PRIME for value in row] for row in _exact(values)], np.int64)
    for step in range(len(matrix)):
        places = np.argwhere(matrix[step:, :])
        if not len(places):
            return False
        row, column = places[0] + (step, 0)
        matrix[[step, row]] = matrix[[row, step]]
        inverse = pow(int(matrix[step, column]), -1, PRIME)
        below = matrix[step + 1 :]
        factors = below[:, column] * inverse % PRIME
        below -= factors[:, None] * matrix[step] % PRIME
        below %= PRIME
    return True
