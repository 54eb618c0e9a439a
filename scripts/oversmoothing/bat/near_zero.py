"""Decide in rational arithmetic what `simplex` leaves open: tokens whose least mass floats cannot tell from zero.

A rare token has a minimum between the two tolerances of `simplex`, one of 42 million in a default run. Its vertex and
its row of the tableau are computed again without rounding, at the basis where its minimisation ended. The token is
rejected if it is zero at the vertex and the others lie in their bounds, and accepted if it stays above zero in the
whole box, where zero is the `ZERO` of `simplex`.
"""

from fractions import Fraction

import numpy as np

import oversmoothing.bat.simplex as simplex
from oversmoothing.numerics.exact import solve_exactly


def decide(
    columns: np.ndarray, p: np.ndarray, bound: float, token: int, basic: np.ndarray, rest: np.ndarray
) -> np.int8:
    """Return ACCEPTED, REJECTED or UNDECIDED, for a distribution p (v,) and the bound E.

    `columns`, float64 (v, m), are the constraints, and `basic` and `rest` those of `reject.Certificates` for the token.
    """
    basic = basic[basic >= 0]
    if len(basic) != columns.shape[1]:
        return simplex.UNDECIDED
    support = [j for j in np.flatnonzero(p).tolist() if j not in basic]
    exact = {j: [Fraction(value) for value in columns[j].tolist()] for j in support}
    mass, most = {j: Fraction(float(p[j])) for j in (*support, *basic.tolist())}, Fraction(bound)
    lost = {j: mass[j] * (1 - (Fraction(0), Fraction(1), most)[rest[j]]) for j in support}
    total = [sum((lost[j] * exact[j][k] for j in support), Fraction(0)) for k in range(columns.shape[1])]
    gained = solve_exactly(columns[basic].T.tolist(), total)
    if gained is None:
        return simplex.UNDECIDED
    x = {b: 1 + gain / mass[b] for b, gain in zip(basic.tolist(), gained, strict=True)}
    inside = all(-simplex.FEASIBLE <= value <= bound + simplex.FEASIBLE for value in x.values())
    if inside and (x[token] <= simplex.ZERO if token in x else rest[token] == 0):
        return simplex.REJECTED
    unit = [Fraction(int(b == token)) / mass[b] for b in basic.tolist()]
    combination = solve_exactly(columns[basic].tolist(), unit)
    assert combination is not None  # the basis is regular, as above
    row = [mass[j] * sum(a * b for a, b in zip(exact[j], combination, strict=True)) for j in support]
    fall = sum(max(entry * (most - 1), -entry) for entry in row)
    return simplex.ACCEPTED if token in x and fall < 1 - Fraction(simplex.ZERO) else simplex.UNDECIDED
