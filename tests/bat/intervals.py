"""Prove a decision about a large vocabulary from the head itself, with bounds of every rounding.

The witness is what `large.solve` keeps: z for a rejected token, y for an accepted one. Sums are in extended precision
where the platform has it, and each comes with its bound n u |a|^T |b| (Higham 2002, section 3.1), so nothing that is
proved here is owed to rounding.

* Rejected: z satisfies the constraints up to a small vector c, which m tokens with much room, S, repair: if R is an
  approximate inverse of their columns K and |I - R K| <= a < 1, then K x = -c has a solution with
  |x| <= max |R c| / (1 - a). The proof holds if z keeps that distance from the ends of the box on S.
* Accepted: y, as any combination of [W, 1]; the proof holds if the sum of max((E - 1) t_j, -t_j) over the others is
  below t_i.
"""

import numpy as np
from scipy.linalg import qr

UNIT = float(np.finfo(np.longdouble).eps)  # twice the unit roundoff
SAFE = 1 + 1e-9  # for the rounding of the bounds themselves
MANY = 8  # candidates for S, in units of m


def proves(weights: np.ndarray, p: np.ndarray, token: int, rejected: bool, bound: float, witness) -> bool:
    """Whether a decision is proved about a head `weights` (v, d), [W, 1] of rank d + 1, at the bound E.

    The witness is z (v,), or y (d + 1,) in the coordinates of [W, 1]; None if a token needs none.
    """
    if p[token] == 0:
        return rejected
    constraints = np.concatenate([weights, np.ones((len(p), 1))], axis=1)
    if witness is None:
        return not rejected and p[token] * bound * (1 - 1e-12) > (bound - 1) * p.sum() * (1 + 1e-12)
    return (_rejects if rejected else _accepts)(constraints, p, token, bound, witness)


def _rejects(constraints, p, token, bound, z) -> bool:
    highest = np.nextafter(bound - 1, 0)
    if z[token] != -1 or z.min() < -1 or z.max() > highest:
        return False
    moved = np.asarray(p, np.longdouble) * z
    missing = constraints.T.astype(np.longdouble) @ moved
    error = (len(p) + 2) * UNIT * (abs(constraints).T @ abs(moved).astype(np.float64)) * SAFE
    room = np.minimum(z + 1, highest - z)
    room[token] = 0
    m = constraints.shape[1]
    able = np.argsort(-(p * room * np.linalg.norm(constraints, axis=1)), kind="stable")[: MANY * m]
    chosen = able[qr(((p * room)[able, None] * constraints[able]).T, mode="r", pivoting=True)[1][:m]]
    matrix = (p[chosen, None] * constraints[chosen]).T
    inverse = np.linalg.inv(matrix * room[chosen]) * room[chosen, None]
    left = abs(np.eye(m) - inverse @ matrix) / room[chosen, None] * room[chosen]  # in units of the room
    rounding = (m + 2) * 2.0**-52 * (abs(inverse) @ abs(matrix)) / room[chosen, None] * room[chosen]
    contraction = (left + rounding).sum(axis=1).max() * SAFE
    step = abs(inverse) @ (abs(missing.astype(np.float64)) + error) * SAFE / room[chosen]
    return bool(contraction < 1 and step.max() / (1 - contraction) < 1)


def _accepts(constraints, p, token, bound, y) -> bool:
    t = p * (constraints.astype(np.longdouble) @ y)
    error = p * (len(y) + 3) * UNIT * (abs(constraints) @ abs(y)) * SAFE
    falls = np.maximum((bound - 1) * (t + error), error - t)
    falls[token] = 0
    return bool(falls.sum() * SAFE < t[token] - error[token])
