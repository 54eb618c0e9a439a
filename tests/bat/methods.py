"""Two ways to a BAT-reject set: a tableau, and the stages for large vocabularies."""

import numpy as np

from oversmoothing.bat.basis import prepare
from oversmoothing.bat.large.constraints import Constraints
from oversmoothing.bat.large.position import OPEN, REJECTED
from oversmoothing.bat.large.solve import solve
from oversmoothing.bat.reject import DELTA, reject_set


def by_tableau(weights, p, delta=DELTA):
    """Rejected tokens, bool (v,), by `reject_set`, which has to decide all."""
    sets = reject_set(prepare(weights), p, delta)
    assert not sets.undecided.any()
    return sets.rejected[0]


def by_stages(weights, p, delta=DELTA):
    """The same, by `large`, which has to decide all."""
    position = solve(constraints(prepare(weights)), p / p.sum(), np.exp(delta), 0.0)
    assert (position.status != OPEN).all()
    return position.status == REJECTED


def constraints(basis, normal=None):
    """Constraints of one position, as `large` takes them, without what is known of equal rows."""
    columns = basis.columns
    normal = np.zeros(columns.shape[1]) if normal is None else normal
    return Constraints(columns, np.linalg.norm(columns, axis=1), normal)
