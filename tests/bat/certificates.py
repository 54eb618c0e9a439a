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

from fractions import Fraction

import numpy as np
from scipy.linalg import qr

from oversmoothing.bat.reject import RejectSet
from oversmoothing.numerics.exact import solve_exactly

PRIME = 2**31 - 1


def proves(weights: np.ndarray, sets: RejectSet, position: int, token: int, bound: float) -> bool:
    """Whether one decision about the head `weights` (v, d) is proved, at the bound E; an undecided token never is.

    Takes about m^3 / 3 products of long integers: milliseconds at rank 32, seconds at 128.
    """
    p = sets.p[position]
    if p[token] == 0:
        return bool(sets.rejected[position, token])
    if sets.undecided[position, token]:
        return False
    support = np.flatnonzero(p)
    constraints = np.concatenate([np.asarray(weights, np.float64), np.ones((len(p), 1))], axis=1)[support]
    place = {name: i for i, name in enumerate(support.tolist())}
    basic = [place[name] for name in sets.certificates.basis[position, token].tolist() if name >= 0]
    masses = [Fraction(mass) for mass in p[support].tolist()]
    if sets.rejected[position, token]:
        rest = sets.certificates.rest[position, token, support].tolist()
        return _rejects(constraints, masses, place[token], basic, rest, Fraction(bound))
    if not basic:
        heavy = masses[place[token]] * Fraction(bound) > Fraction(bound) - sum(masses)
        return heavy or bound == 1 or _independent(constraints)
    return _accepts(constraints, masses, place[token], basic, Fraction(bound))


def _rejects(
    constraints: np.ndarray, p: list[Fraction], token: int, basic: list[int], rest: list[int], bound: Fraction
) -> bool:
    multiples = (Fraction(0), Fraction(1), bound, Fraction(0))  # the last for basic tokens, for now
    q = [mass * multiples[where] for mass, where in zip(p, rest, strict=True)]
    missing = [mass - part for mass, part in zip(p, q, strict=True)]
    right = [_dot(column, missing) for column in constraints.T.tolist()]
    solved = solve_exactly(constraints[basic].T.tolist(), right)
    if solved is None:
        return False
    for b, value in zip(basic, solved, strict=True):
        q[b] = value
    return q[token] == 0 and all(0 <= part <= bound * mass for part, mass in zip(q, p, strict=True))


def _accepts(constraints: np.ndarray, p: list[Fraction], token: int, basic: list[int], bound: Fraction) -> bool:
    # Any y will do. As many rows of (C y)_b = [b = token] as there are basic tokens fix the coordinates that count;
    # the others are left at zero.
    y = _combination(constraints[basic], basic.index(token)) if token in basic else None
    if y is None:
        return False
    fall = Fraction(0)
    for j, (row, mass) in enumerate(zip(constraints.tolist(), p, strict=True)):
        if j != token:
            t = mass * _dot(row, y)
            fall += max(t * (bound - 1), -t)
    return fall < p[token]


def _combination(rows: np.ndarray, one: int) -> list[Fraction] | None:
    """Solve rows @ y = unit vector `one`, with y zero off as many independent columns as there are rows."""
    columns = np.sort(qr(rows, mode="r", pivoting=True)[1][: len(rows)])
    solved = solve_exactly(rows[:, columns].tolist(), [int(r == one) for r in range(len(rows))])
    if solved is None:
        return None
    y = [Fraction(0)] * rows.shape[1]
    for column, value in zip(columns.tolist(), solved, strict=True):
        y[column] = value
    return y


def _dot(row: list[float], values: list[Fraction]) -> Fraction:
    return sum((Fraction(a) * b for a, b in zip(row, values, strict=True) if a and b), Fraction(0))


def _independent(values: np.ndarray) -> bool:
    """Prove that the rows of a matrix are independent, by elimination modulo a prime."""
    matrix = np.array([_modulo(row) for row in values.tolist()], np.int64)
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


def _modulo(row: list[float]) -> list[int]:
    fractions = [Fraction(value) for value in row]
    scale = max(value.denominator for value in fractions)
    return [int(value * scale) % PRIME for value in fractions]
