"""TBAT of distributions: the mass that each gives to its own BAT-reject set."""

import numpy as np

from oversmoothing.bat import DELTA
from oversmoothing.bat.basis import Basis
from oversmoothing.bat.reject import reject_set


def bracket(
    basis: Basis, p: np.ndarray, delta: float = DELTA, mass_tolerance: float = 0.0, post: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return a lower and an upper bound of TBAT, the mass of each distribution on its own BAT-reject set.

    Parameters
    ----------
    basis : Basis
        Of the head: `bat.prepare`, or `bat.prepare_tangent` for the condition behind a LayerNorm.
    p : array, shape (n, v) or (v,)
        Distributions; zeros are allowed.
    delta : float
        In nats, 0 to 20: as that of `bat.reject_set`.
    mass_tolerance : float
        Width of the bracket that suffices, 0 for exact values. Above 1,000 tokens a bracket may stay wider.
    post : array, shape (n, r) or (r,), optional
        Input of the head at each position; required for a `TangentBasis`, and only allowed for it.

    Returns
    -------
    low, high : float64 arrays, shape (n,)
        TBAT lies between them. They are equal where every token is decided.

    Raises
    ------
    ValueError
        If shapes do not match, a row of p is not a distribution, or delta or mass_tolerance is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from oversmoothing import bat
    >>> basis = bat.prepare(np.array([[1.0], [2.0], [3.0]]))
    >>> low, high = bat.bracket(basis, np.array([[0.45, 0.1, 0.45], [0.3, 0.4, 0.3]]))
    >>> low.round(6), high.round(6)
    (array([0.1, 0. ]), array([0.1, 0. ]))
    """
    return reject_set(basis, p, delta, mass_tolerance, post).mass
