"""Compiled solver of `reject_set`: one linear program per token, all solved on one tableau.

With x_j = q_j / p_j the question is whether some x in the box [0, E]^s, E = e^delta, with A x = A 1 has x_i = 0. The
columns of A are p_j u_j, where u_j is token j's row of the basis. x = 1 is always feasible, so no first phase is
needed. A basis B of m columns gives the condensed tableau T = A_B^-1 A_N and x_B = 1 + T (1 - x_N), from which
several tokens are decided at once:

* A vertex rejects every token that is zero there.
* A row r with sum_l ((E - 1) max(T_rl, 0) + max(-T_rl, 0)) < 1 accepts its token: that sum is the most that x_B[r]
  can fall below 1 anywhere in the box (the dual bound, a Farkas certificate).
* A token at E is rejected if nothing blocks its way to zero: the vertex there need not be visited.

The solver first moves every nonbasic coordinate from 1 down to 0, which ends at a vertex and rejects most of the
tokens that can be rejected. It then minimises x_i for each remaining token, starting from the vertex where the previous
minimisation ended. Nonbasic coordinates are at 0 or E. Ties in the ratio test go to the largest pivot (Harris 1973);
pricing is Dantzig's and, after many steps without progress, Bland's, which cannot cycle.
"""

import numpy as np

from oversmoothing.numerics.compiled import compiled, in_threads, inner

OPEN, REJECTED, ACCEPTED, UNDECIDED = np.arange(4, dtype=np.int8)  # a Python int would compile a function for each

FEASIBLE = 1e-9  # a coordinate may leave the box by this much
ZERO = 1e-10  # a minimum below this is zero ...
POSITIVE = 1e-8  # ... one above this is not, and between them the token is undecided
SMALLEST_PIVOT = 1e-11
SMALLEST_PRICE = 1e-11
DEPENDENT = 1e-12  # relative size of a column's remainder below which it depends on the others
MOST_STEPS = 20_000  # for one token
DRIFT = 1e-9  # final error of A x = A 1 that is allowed, relative to the size of the terms


def solve(
    columns: np.ndarray,
    normals: np.ndarray,
    p: np.ndarray,
    bound: float,
    mass_tolerance: float,
    kept: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """Return what is decided of each token, int8 (n, v): REJECTED, ACCEPTED or UNDECIDED.

    `columns` (v, m) is orthonormal, and `normals` (n, m) has the direction of it that each position leaves free, or
    zeros. A position of `p` (n, v) is finished once its open tokens have at most the mass `mass_tolerance`; `bound` is
    E, above 1. `kept` receives the arrays of `reject.Certificates`, in units of p.
    """
    status = np.zeros(p.shape, np.int8)
    nothing = np.zeros((0, 0), np.int16), np.zeros((0, 0), np.int8)

    def solve_position(i: int) -> None:
        basis, rest = (kept[0][i], kept[1][i]) if kept else nothing
        _solve_position(columns, normals[i], p[i], bound, mass_tolerance, status[i], basis, rest)

    in_threads(solve_position, len(p))
    return status


@compiled(nogil=True)
def _solve_position(columns, normal, p, bound, mass_tolerance, status, basis, rest):
    support = np.flatnonzero(p > 0)
    status[:] = REJECTED  # tokens without mass
    status[support] = ACCEPTED
    matrix = _constraints(columns, normal, p, support)
    basic, nonbasic, tableau = _factor(matrix)
    if len(nonbasic) == 0:
        return  # the support's columns are independent: x = 1 is the only solution
    for token in support:
        status[token] = ACCEPTED if p[token] * bound > bound - 1 else OPEN  # the others cannot hold all the mass
    basic, nonbasic = support[basic], support[nonbasic]
    x_basic, x_nonbasic = np.ones(len(basic)), np.ones(len(nonbasic))
    state = (tableau, basic, nonbasic, x_basic, x_nonbasic, status, bound, basis, rest)
    _accept_rows(state)
    for j in np.argsort(p[nonbasic]):
        _move(state, j, -1.0, 1.0, FEASIBLE)
    _accept_rows(state)
    while True:
        _reject_unblocked(state)
        token = _next_target(state, p, mass_tolerance)
        if token < 0:
            break
        _minimise(state, token)
    drifted = _drift(_constraints(columns, normal, p, support), support, state) > DRIFT
    for token in support:
        if status[token] == OPEN or drifted:
            status[token] = UNDECIDED


@inner()
def _constraints(columns, normal, p, support):
    """Return A, shape (m, s), or (m - 1, s) after a Householder reflection that removes a free direction."""
    m = columns.shape[1]
    matrix = np.empty((m, len(support)))
    for j in range(len(support)):
        for i in range(m):
            matrix[i, j] = p[support[j]] * columns[support[j], i]
    if not np.any(normal):
        return matrix
    mirror = normal.copy()  # maps the normal to a multiple of the last unit vector, whose row is dropped
    mirror[m - 1] += np.sign(mirror[m - 1]) if mirror[m - 1] != 0 else 1.0
    scale = 2.0 / np.dot(mirror, mirror)
    for j in range(len(support)):
        along = 0.0
        for i in range(m):
            along += mirror[i] * matrix[i, j]
        for i in range(m):
            matrix[i, j] -= scale * along * mirror[i]
    return matrix[: m - 1]


@inner()
def _factor(matrix):
    """Eliminate with complete pivoting; return basic and nonbasic columns and the tableau A_B^-1 A_N.

    The pivots are the largest entries that exceed the rounding errors of their own column, because columns differ by as
    many orders of magnitude as probabilities. Entries of a row that do not exceed them are set to zero before the row
    is divided by its pivot, since a rare token's small pivot would amplify the rounding errors of a frequent one.
    """
    m, s = matrix.shape
    noise = np.empty(s)
    for j in range(s):
        noise[j] = 0.0
        for i in range(m):
            noise[j] += matrix[i, j] ** 2
        noise[j] = DEPENDENT * np.sqrt(noise[j])
    column_of = np.full(m, -1)
    taken = np.zeros(s, np.bool_)
    rank = 0
    for _ in range(min(m, s)):
        largest, row, column = 0.0, -1, -1
        for i in range(m):
            if column_of[i] < 0:
                for j in range(s):
                    size = abs(matrix[i, j])
                    if size > largest and not taken[j] and size > noise[j]:
                        largest, row, column = size, i, j
        if row < 0:
            break
        rank += 1
        column_of[row] = column
        taken[column] = True
        inverse = 1.0 / matrix[row, column]
        for j in range(s):
            matrix[row, j] = matrix[row, j] * inverse if abs(matrix[row, j]) > noise[j] else 0.0
        factors = matrix[:, column].copy()
        factors[row] = 0.0
        _eliminate(matrix, matrix[row].copy(), factors)
    rows = np.flatnonzero(column_of >= 0)
    nonbasic = np.flatnonzero(~taken)
    tableau = np.empty((rank, len(nonbasic)))
    for i in range(rank):
        for j in range(len(nonbasic)):
            tableau[i, j] = matrix[rows[i], nonbasic[j]]
    return column_of[rows], nonbasic, tableau


@inner()
def _accept_rows(state):
    tableau, basic, _, _, _, status, bound, _, _ = state
    for r in range(len(basic)):
        if status[basic[r]] == OPEN and _deepest(tableau, r, bound) < 1.0 - POSITIVE:
            _decide(state, basic[r], ACCEPTED)


@inner(fastmath=True)
def _deepest(tableau, r, bound):
    """Return the upper bound of the distance by which the basic token of row r can fall below 1 in the box."""
    positive, negative = 0.0, 0.0
    for j in range(tableau.shape[1]):
        value = tableau[r, j]
        positive += max(value, 0.0)
        negative -= min(value, 0.0)
    return (bound - 1.0) * positive + negative


@inner()
def _reject_unblocked(state):
    """Reject the open tokens at E that could be lowered to zero alone: the vertex there proves it, without a pivot."""
    tableau, _, nonbasic, x_basic, x_nonbasic, status, bound, _, _ = state
    for j in range(len(nonbasic)):
        if status[nonbasic[j]] == OPEN and _nearest(-tableau[:, j], x_basic, bound, bound, 0.0) >= bound:
            x_nonbasic[j] = 0.0
            _decide(state, nonbasic[j], REJECTED)
            x_nonbasic[j] = bound


@inner()
def _next_target(state, p, mass_tolerance):
    """Open token to minimise next: one at E, or else the lowest; -1 if the open tokens may stay undecided."""
    _, basic, nonbasic, x_basic, _, status, _, _, _ = state
    mass, lowest, target = 0.0, np.inf, -1
    for r in range(len(basic)):
        if status[basic[r]] == OPEN:
            mass += p[basic[r]]
            if x_basic[r] < lowest:
                lowest, target = x_basic[r], basic[r]
    for j in range(len(nonbasic)):
        if status[nonbasic[j]] == OPEN:
            mass += p[nonbasic[j]]
            target = nonbasic[j]
    return target if mass > mass_tolerance else -1


@inner()
def _minimise(state, token):
    """Minimise one coordinate until it is zero, provably positive, or at a minimum between the two tolerances."""
    tableau, basic, nonbasic, x_basic, x_nonbasic, status, bound, _, _ = state
    row = -1
    for r in range(len(basic)):
        if basic[r] == token:
            row = r
    if row < 0:
        for j in range(len(nonbasic)):
            if nonbasic[j] == token:
                row = _move(state, j, -1.0, bound, FEASIBLE)
                break
    stalled = 0
    for _ in range(MOST_STEPS):
        if status[token] != OPEN:
            return
        if x_basic[row] <= ZERO:
            _decide(state, token, REJECTED)
            return
        if _deepest(tableau, row, bound) < 1.0 - POSITIVE:
            _decide(state, token, ACCEPTED)
            return
        careful = stalled > len(basic) + len(nonbasic)
        j = _price(state, row, careful)
        if j < 0:
            _decide(state, token, UNDECIDED)
            return
        before = x_basic[row]
        _move(state, j, -1.0 if x_nonbasic[j] > 0.0 else 1.0, bound, 0.0 if careful else FEASIBLE)
        stalled = 0 if status[token] == OPEN and x_basic[row] < before - ZERO else stalled + 1
    _decide(state, token, UNDECIDED)


@inner()
def _price(state, row, careful):
    """Return the nonbasic token whose move lowers a row fastest (Dantzig), or the first by index (Bland)."""
    tableau, _, nonbasic, _, x_nonbasic, _, _, _, _ = state
    own, chosen = tableau[row], -1
    best = SMALLEST_PRICE if careful else _highest_price(own, x_nonbasic)
    for j in range(len(nonbasic)):
        price = -own[j] if x_nonbasic[j] > 0.0 else own[j]
        if careful and price > best and (chosen < 0 or nonbasic[j] < nonbasic[chosen]):
            chosen = j
        elif not careful and price == best:
            return j
    return chosen


@inner(fastmath={"nnan", "nsz"})
def _highest_price(own, x_nonbasic):
    """Return the highest price in a row, if it is above the smallest, and infinity else."""
    best = 0.0
    for j in range(len(own)):
        best = max(best, -own[j] if x_nonbasic[j] > 0.0 else own[j])
    return best if best > SMALLEST_PRICE else np.inf


@inner()
def _move(state, j, direction, furthest, slack):
    """Move a nonbasic token until it or a basic one reaches a bound; return the row that it enters, or -1."""
    tableau, basic, nonbasic, x_basic, x_nonbasic, status, bound, _, _ = state
    speeds = tableau[:, j] * direction
    row, step, at_bound = _ratio(speeds, basic, x_basic, bound, furthest, slack)
    for r in range(len(basic)):
        x_basic[r] -= speeds[r] * step
    arrived = x_nonbasic[j] + direction * step
    if row < 0:
        x_nonbasic[j] = bound if direction > 0 else 0.0
    else:
        _pivot(tableau, row, j)
        basic[row], nonbasic[j] = nonbasic[j], basic[row]
        x_basic[row], x_nonbasic[j] = arrived, bound if at_bound else 0.0
    if x_nonbasic[j] == 0.0 and status[nonbasic[j]] == OPEN:
        _decide(state, nonbasic[j], REJECTED)
    return row


@inner()
def _ratio(speeds, basic, x_basic, bound, furthest, slack):
    """Return the blocking row or -1, the step length, and whether the row is blocked at E, by the ratio test."""
    relaxed = _nearest(speeds, x_basic, bound, furthest, slack)
    row, step, at_bound, largest = -1, furthest, False, 0.0
    for r in range(len(basic)):
        speed = abs(speeds[r])
        room = (x_basic[r] if speeds[r] > 0.0 else bound - x_basic[r]) / speed
        if room > relaxed or room >= furthest or speed <= SMALLEST_PIVOT:
            continue
        better = speed > largest if slack > 0.0 else row < 0 or basic[r] < basic[row]
        if better:
            row, step, at_bound, largest = r, max(room, 0.0), speeds[r] < 0.0, speed
    return row, step, at_bound


@inner(fastmath={"nnan", "nsz"})
def _nearest(speeds, x_basic, bound, furthest, slack):
    """Return how far a move can go until a coordinate has left the box by `slack`."""
    nearest = furthest
    for r in range(len(speeds)):
        distance = (x_basic[r] if speeds[r] > 0.0 else bound - x_basic[r]) + slack
        nearest = min(nearest, distance / abs(speeds[r]) if abs(speeds[r]) > SMALLEST_PIVOT else furthest)
    return nearest


@inner(fastmath={"contract"})
def _pivot(tableau, row, j):
    """Exchange a basic and a nonbasic token."""
    inverse = 1.0 / tableau[row, j]
    factors = tableau[:, j].copy()
    factors[row] = 0.0
    for k in range(tableau.shape[1]):
        tableau[row, k] *= inverse
    tableau[row, j] = inverse
    _eliminate(tableau, tableau[row].copy(), factors)
    for r in range(len(factors)):
        if factors[r] != 0.0:
            tableau[r, j] = -factors[r] * inverse


@inner(fastmath={"contract"})
def _eliminate(matrix, pivotal, factors):
    """Subtract multiples of a row; a copy of it, because the loop is vectorised only where nothing overlaps."""
    for r in range(len(factors)):
        factor = factors[r]
        if factor != 0.0:
            own = matrix[r]
            for k in range(len(pivotal)):
                own[k] -= factor * pivotal[k]


@inner()
def _drift(matrix, support, state):
    """Return the relative error of the constraints at the last vertex, from rounding."""
    _, basic, nonbasic, x_basic, x_nonbasic, status, _, _, _ = state
    moved = np.zeros(len(status))
    for r in range(len(basic)):
        moved[basic[r]] = x_basic[r] - 1.0
    for j in range(len(nonbasic)):
        moved[nonbasic[j]] = x_nonbasic[j] - 1.0
    worst = 0.0
    for i in range(matrix.shape[0]):
        total, size = 0.0, 0.0
        for j in range(len(support)):
            part = matrix[i, j] * moved[support[j]]
            total += part
            size += abs(part) + 1e-4 * abs(matrix[i, j])  # x near 1 is known to 1e-16, however little it moved
        if abs(total) > worst * size:
            worst = abs(total) / size
    return worst


@inner()
def _decide(state, token, decision):
    """Set a token's status and, if certificates are requested, keep the basis that proves it."""
    _, basic, nonbasic, _, x_nonbasic, status, _, basis, rest = state
    status[token] = decision
    if basis.size:
        for r in range(len(basic)):
            basis[token, r], rest[token, basic[r]] = basic[r], 3
        for j in range(len(nonbasic)):
            rest[token, nonbasic[j]] = 0 if x_nonbasic[j] == 0.0 else 1 if x_nonbasic[j] == 1.0 else 2
