"""BAT-reject sets and their mass, TBAT, exact and for many positions at once (thesis 4.1.6 and appendix D).

The BAT-reject set of a distribution p under a head W contains the tokens to which the truth may give no mass: token i
is in it if there is q with

    q_i = 0,   sum_j q_j = 1,   0 <= q_j <= p_j e^delta,   W^T q = W^T p.

A token without mass is in the set, since q = p is a solution. A token with p_i > 1 - e^-delta is not, since the others
cannot hold all the mass. If [W, 1] has rank v, q = p is the only solution and the set contains no token with mass.
Every other case is one linear program per token. `simplex` solves them on one tableau per position, up to
`LARGEST_DENSE` tokens with mass; above, `large` decides most of them together and without a tableau.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

import oversmoothing.bat.simplex as simplex
from oversmoothing.bat.basis import Basis, TangentBasis, prepare
from oversmoothing.bat.large.constraints import Constraints
from oversmoothing.bat.large.position import OPEN
from oversmoothing.bat.large.solve import solve
from oversmoothing.bat.near_zero import decide
from oversmoothing.numerics.distributions import distributions
from oversmoothing.numerics.log_ratio import DELTA, LARGEST_DELTA

LARGEST_DENSE = 1000  # tokens with mass up to which a tableau is the faster way


@dataclass(frozen=True)
class RejectSet:
    """The BAT-reject sets of n distributions.

    Attributes
    ----------
    p : float64 array, shape (n, v)
        The distributions, renormalised.
    rejected, undecided : bool arrays, shape (n, v)
        A token is undecided if its smallest q_i / p_i is within 1e-8 of zero (1e-6 above 1,000 tokens with mass), too
        close to decide in floating point, if `mass_tolerance` allows it, or, above 1,000 tokens only, if no proof was
        found.
    certificates : Certificates or None
        Proof of each decision, if requested; up to 1,000 tokens only.
    """

    p: np.ndarray
    rejected: np.ndarray
    undecided: np.ndarray
    certificates: "Certificates | None" = None

    @property
    def mass(self) -> tuple[np.ndarray, np.ndarray]:
        """The lower and the upper bound of TBAT, shape (n,) each: without and with the undecided tokens."""
        low = np.where(self.rejected, self.p, 0.0).sum(axis=1)
        return low, low + np.where(self.undecided, self.p, 0.0).sum(axis=1)


@dataclass(frozen=True)
class Certificates:
    """Basis of each decision, from which tests/bat/certificates.py proves it in exact arithmetic.

    `basis`, int16 (n, v, m), has for each token the basic tokens at its decision, padded with -1, all -1 if no basis
    was needed; `rest`, int8 (n, v, v), the state of the others: 0 at zero, 1 at p, 2 at p e^delta, 3 basic.
    """

    basis: np.ndarray
    rest: np.ndarray


def reject_set(
    basis: Basis | np.ndarray,
    p: np.ndarray,
    delta: float = DELTA,
    mass_tolerance: float = 0.0,
    post: np.ndarray | None = None,
    certificates: bool = False,
) -> RejectSet:
    """Return the BAT-reject set of each distribution: the tokens to which the truth may give no mass.

    Token i is in the set of p if some distribution q with W^T q = W^T p and q_j <= p_j e^delta has q_i = 0 (thesis
    4.1.6 and appendix D; Finlayson et al. 2024).

    Parameters
    ----------
    basis : Basis, or array, shape (v, d)
        Of the head: `bat.prepare`, or `bat.prepare_tangent` for the condition behind a LayerNorm. A head W itself is
        prepared in each call.
    p : array, shape (n, v) or (v,)
        Distributions; zeros (truncated decodings) and sums that differ from 1 by float32 rounding are allowed. A single
        distribution means n = 1.
    delta : float
        In nats, 0 to 20. The default is `bat.DELTA`, ln 1.25 (thesis 4.1.6).
    mass_tolerance : float
        Stop at a position once the remaining tokens have at most this mass and leave them undecided; 0 decides all.
        Above 1,000 tokens the time depends on it: 1e-3 costs a fraction of 0.
    post : array, shape (n, r) or (r,), optional
        Input of the head at each position; required for a `TangentBasis`, and only allowed for it.
    certificates : bool
        Keep a proof of each decision (v m + v^2 small integers per distribution and token). Not above 1,000 tokens,
        where `oversmoothing.bat.large.solve.solve` keeps the proofs of the tokens that it is asked for.

    Returns
    -------
    RejectSet

    Raises
    ------
    ValueError
        If shapes do not match, a row of p is not a distribution, or delta or mass_tolerance is out of range, or if
        certificates of more than 1,000 tokens are requested.

    Examples
    --------
    This head leaves the direction (1, -2, 1) open. The first distribution may lose its second token, as
    (0.5, 0, 0.5) has the same mean and nowhere more than 1.25 times the probability. The second would have to grow
    too much.

    >>> import numpy as np
    >>> from oversmoothing import bat
    >>> basis = bat.prepare(np.array([[1.0], [2.0], [3.0]]))
    >>> sets = bat.reject_set(basis, np.array([[0.45, 0.1, 0.45], [0.3, 0.4, 0.3]]))
    >>> sets.rejected
    array([[False,  True, False],
           [False, False, False]])
    """
    basis = basis if isinstance(basis, Basis) else prepare(basis)
    p = distributions(p, len(basis.columns))
    if not 0 <= delta <= LARGEST_DELTA:
        raise ValueError(f"delta {delta} lies outside 0 to {LARGEST_DELTA:g}")
    if not 0 <= mass_tolerance <= 1:
        raise ValueError(f"mass_tolerance {mass_tolerance} is no probability")
    normals = _normals(basis, post, len(p))
    n, v = p.shape
    m = basis.columns.shape[1]
    if certificates and v > LARGEST_DENSE:
        raise ValueError(
            f"certificates of {v} tokens are too large to keep (at most {LARGEST_DENSE}); "
            "`large.solve.solve` keeps those of the tokens named in `witnesses`"
        )
    kept = _empty_proofs(n, v, m) if certificates else None
    if math.exp(delta) == 1 or (basis.full and not normals.any()):
        status = np.where(p > 0, simplex.ACCEPTED, simplex.REJECTED)
    elif v > LARGEST_DENSE:
        status = _solve_large(basis, normals, p, math.exp(delta), mass_tolerance)
    else:
        status = simplex.solve(basis.columns, normals, p, math.exp(delta), mass_tolerance, kept)
        for i in np.flatnonzero((p * (status == simplex.UNDECIDED)).sum(axis=1) > mass_tolerance).tolist():
            _settle(basis.columns, normals[i], p[i], math.exp(delta), mass_tolerance, status[i])
    proofs = Certificates(*kept) if kept else None
    return RejectSet(p, status == simplex.REJECTED, status == simplex.UNDECIDED, proofs)


def _empty_proofs(n: int, v: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return arrays of `Certificates` before any decision."""
    return np.full((n, v, m), -1, np.int16), np.full((n, v, v), 3, np.int8)


def _settle(
    columns: np.ndarray, normal: np.ndarray, p: np.ndarray, bound: float, mass_tolerance: float, status: np.ndarray
) -> None:
    """Decide tokens of one distribution that `simplex` left open, the likeliest first, until the rest may stay so."""
    bases, rests = kept = _empty_proofs(1, *columns.shape)
    simplex.solve(columns, normal[None], p[None], bound, mass_tolerance, kept)  # again, to keep the bases
    if normal.any():
        columns = columns @ null_space(normal[None])  # leaves out the direction that is free
    for token in np.argsort(-p, kind="stable").tolist():
        if status[token] == simplex.UNDECIDED:
            status[token] = decide(columns, p, bound, token, bases[0, token], rests[0, token])
        if p[status == simplex.UNDECIDED].sum() <= mass_tolerance:
            return


def bracket(
    basis: Basis | np.ndarray,
    p: np.ndarray,
    delta: float = DELTA,
    mass_tolerance: float = 0.0,
    post: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return a lower and an upper bound of TBAT, the mass of each distribution on its own BAT-reject set.

    Parameters
    ----------
    basis : Basis, or array, shape (v, d)
        Of the head: `bat.prepare`, or `bat.prepare_tangent` for the condition behind a LayerNorm. A head W itself is
        prepared in each call.
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


def _solve_large(basis: Basis, normals: np.ndarray, p: np.ndarray, bound: float, mass_tolerance: float) -> np.ndarray:
    """Return the status of each token: by `simplex` where few have mass, as after top-k, and else by `large`."""
    columns = basis.columns
    status = np.full(p.shape, simplex.REJECTED, np.int8)
    norms = np.sqrt(np.einsum("ij,ij->i", columns, columns))
    for i, (normal, row) in enumerate(zip(normals, p, strict=True)):
        support = np.flatnonzero(row)
        if len(support) <= LARGEST_DENSE:
            rows = np.ascontiguousarray(columns[support])
            status[i, support] = simplex.solve(rows, normal[None], row[None, support], bound, mass_tolerance)[0]
        else:
            position = solve(Constraints(columns, norms, normal, basis.twins), row, bound, mass_tolerance)
            status[i] = np.where(position.status == OPEN, simplex.UNDECIDED, position.status)
    return status


def _normals(basis: Basis, post: np.ndarray | None, n: int) -> np.ndarray:
    if not isinstance(basis, TangentBasis):
        if post is not None:
            raise ValueError("post is for a TangentBasis; the thesis's condition does not depend on it")
        return np.zeros((n, basis.columns.shape[1]))
    states = np.empty((0, 0)) if post is None else np.atleast_2d(np.asarray(post, np.float64))
    if states.shape != (n, len(basis.gain)) or not np.isfinite(states).all():
        raise ValueError(f"a TangentBasis needs finite post of shape ({n}, {len(basis.gain)}), not {states.shape}")
    return basis.normals(states)
