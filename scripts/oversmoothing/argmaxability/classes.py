"""Exact set of argmaxable classes of a head, logits = W h + b (thesis 2.2.2, B).

A class is argmaxable if some h makes its logit strictly the largest (Grivas, Bogoychev and Lopez, "Low-rank softmax can
have unargmaxable classes in theory but rarely in practice", ACL 2022). With a_j = (w_j, b_j, 1), by the theorem of the
alternative exactly one of these holds for class i:

* some (h, s, t) with s > 0 has a_i (h, s, t) > a_j (h, s, t) for all j != i; h / s is then a witness;
* a_i = sum of l_j a_j over j != i plus m (0, -1, 0) with l, m >= 0: row w_i is a convex combination of other rows,
  and its bias is at most the same combination of their biases.

Without a bias, b and m vanish: class i is unargmaxable if w_i lies in the convex hull of the other rows. This includes
ties: of two equal rows neither is ever strictly the largest. A floating-point search proposes the witness or the
combination, and `oversmoothing.argmaxability.proofs` proves it; classes without a proof are undecided.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import helmert
from tqdm import tqdm

from oversmoothing.argmaxability import tilting
from oversmoothing.argmaxability.certificates import Certificates, CertificatesByEquivalent
from oversmoothing.argmaxability.coordinates import Coordinates
from oversmoothing.argmaxability.equivalent import equivalent
from oversmoothing.argmaxability.result import UNDECIDED, Argmaxability
from oversmoothing.argmaxability.separation import separate_or_combine
from oversmoothing.argmaxability.working_set import WorkingSet

ALL_PAIRS = 2048  # classes up to which the product of all pairs of rows is kept
EFFORT = 4  # above that, rounds of the search per class and dimension,
MORE_ROUNDS = 50  # and besides
MANY = 0.1  # share of the classes above which those that lead in their own direction are told together
EQUATIONS = 100  # above which square systems cost more than combinations of more rows,
TURNS = 8  # in so many turns per unit of effort;
PRODUCTS = 2**34  # per unit of effort, in searches for single classes that are left then: some half a minute
SPARE = 3  # further searches for a combination that can be proven, each without a certain row of the first
NONE, UNEXAMINED = -1, -2  # in place of such a row: no further search; one without ban
NOTICEABLE = 1e-9  # weight in a combination that is not rounding
NUMBERS = 2**20  # in an array of directions
UNASKED = "unasked"  # status of a class that is not to be decided
CLOSE = 1e-6  # length of a residual, in whitened coordinates, below which a class counts as combined


def argmaxable(
    weights: np.ndarray, bias: np.ndarray | None = None, hidden: np.ndarray | None = None, effort: int = EFFORT
) -> Argmaxability:
    """Return for each class of a head whether some h makes its logit strictly the largest, with a proof for each.

    Up to 2,048 classes the search keeps the product of all pairs of rows and goes on until floats can tell no
    more. Above, it works with a part of the rows and has a limit, so some classes may be undecided; besides the weights
    and a whitened copy it takes some hundred megabytes. (Grivas, Bogoychev and Lopez, ACL 2022.)

    Parameters
    ----------
    weights : array, shape (v, d)
        The head W, taken as exact, in float64.
    bias : array, shape (v,), optional
        The head's bias.
    hidden : array, shape (n, d), optional
        Hidden states to try as witnesses before any search, for example those of a model; read in blocks, so they may
        be on disk.
    effort : int
        Above 2,048 classes, the rounds per dimension after which a class is left undecided. In more than 100 dimensions
        the search first decides classes together, in eight turns per unit; then one by one, as many as a number of
        operations per unit allows. The others stay undecided.

    Returns
    -------
    Argmaxability

    Raises
    ------
    ValueError
        If a shape is wrong, or a row has NaN or an infinity.

    Examples
    --------
    The last row lies between the others, so no h makes its logit the largest.

    >>> import numpy as np
    >>> from oversmoothing import argmaxability
    >>> weights = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1], [0, 0]])
    >>> argmaxability.argmaxable(weights).argmaxable
    array([ True,  True,  True,  True, False])
    """
    is_large = np.ndim(weights) == 2 and len(weights) > ALL_PAIRS
    weights, bias = checked_head(weights, bias, np.float32 if is_large else np.float64)
    d = weights.shape[1]
    if hidden is not None and (np.ndim(hidden) != 2 or len(hidden) == 0):
        _checked("hidden", hidden, (None, d))

    def begun() -> Certificates:
        certificates = Certificates(weights, bias)
        certificates.accept_equal_rows()
        if hidden is not None:
            for block in certificates.blocks(len(hidden)):
                certificates.accept_witnesses(_checked("hidden", hidden[block], (None, d), block.start))
        return certificates

    return _proved(begun, effort)


def argmaxable_one(weights: np.ndarray, bias: np.ndarray | None, i: int) -> Argmaxability:
    """Decide as `argmaxable` whether class i is argmaxable, without a search for the others."""

    def begun() -> Certificates:
        certificates = Certificates(weights, bias)
        certificates.result.status[:] = UNASKED
        certificates.result.status[i] = UNDECIDED
        return certificates

    return _proved(begun, EFFORT)


def _proved(begin: Callable[[], Certificates], effort: int) -> Argmaxability:
    """Decide the classes that certificates without a search leave undecided."""
    certificates = begin()
    weights, bias = certificates.weights, certificates.bias
    coordinates = Coordinates(weights, certificates.offset)
    other = equivalent(weights, bias) if coordinates.nearly_dependent else None
    if other is not None:
        by_equivalent = CertificatesByEquivalent(certificates, other)
        _decide(by_equivalent, Coordinates(other.weights, by_equivalent.offset), effort)
        if not len(certificates.result.undecided()):
            return certificates.result
        # Of all classes, as the search for one often decides others.
        certificates, proven = begin(), certificates.result
    _decide(certificates, coordinates, effort)
    if other is not None:
        certificates.adopt(proven)
    return certificates.result


def reachable(weights: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Return a head restricted to the outputs of a LayerNorm without bias in front of it: W diag(gain) (I - 11^T / r).

    A LayerNorm gives h = gain * x with sum(x) = 0 and a fixed norm; if the head has no bias, the norm of h does not
    affect the argmax. The product has rank r - 1 at most. It is returned as W diag(gain) Q^T for an orthonormal basis Q
    of the x with sum 0: the same logits, in r - 1 dimensions.

    Parameters
    ----------
    weights : array, shape (v, r)
        The head W.
    gain : array, shape (r,)
        The LayerNorm's weight.

    Returns
    -------
    float64 array, shape (v, r - 1)
        If some gains are 0, the other coordinates of x are unconstrained, and their columns are returned unprojected.

    Raises
    ------
    ValueError
        If a shape is wrong, or a value is NaN or infinite.

    Examples
    --------
    In two dimensions every class of this head is argmaxable. The norm leaves one dimension, in which the third row
    lies between the others.

    >>> import numpy as np
    >>> from oversmoothing import argmaxability
    >>> weights = np.array([[1.0, 0], [0, 1], [2, 2]])
    >>> argmaxability.argmaxable(weights).argmaxable
    array([ True,  True,  True])
    >>> behind = argmaxability.reachable(weights, np.ones(2))
    >>> behind.shape, argmaxability.argmaxable(behind).argmaxable
    ((3, 1), array([ True,  True, False]))
    """
    weights = _checked("weights", weights, (None, None))
    gain = _checked("gain", gain, (weights.shape[1],))
    if not gain.all():
        return (weights * gain)[:, gain != 0]
    return (weights * gain) @ helmert(len(gain)).T


def _decide(certificates: Certificates, coordinates: Coordinates, effort: int) -> None:
    """Decide the classes that are still undecided."""
    if len(certificates.weights) <= ALL_PAIRS:
        _decide_by_all_pairs(certificates, coordinates)
    else:
        _decide_by_working_set(certificates, coordinates, effort)


def _decide_by_all_pairs(certificates: Certificates, coordinates: Coordinates) -> None:
    """Decide with the product of all pairs of rows."""
    for _ in range(2):  # again for those seen to lead, but not by enough for a proof
        left = certificates.result.undecided()
        if len(left):
            directions, supports = separate_or_combine(coordinates.rows, len(certificates.weights), left)
            certificates.accept_witnesses(coordinates.hidden(directions))
            looked_at = left[(supports[left] >= 0).any(axis=1)]
            certificates.accept_combinations(looked_at, supports[looked_at])
            certificates.settle_exactly(looked_at, coordinates.hidden(directions[looked_at]), supports[looked_at])


def _decide_by_working_set(certificates: Certificates, coordinates: Coordinates, effort: int) -> None:
    """Decide without it: by the directions of the rows themselves, many together, then by a search for each."""
    weights, result = certificates.weights, certificates.result
    v, mean = len(weights), weights.mean(axis=0, dtype=np.float64)
    directions: list[Callable[[np.ndarray], np.ndarray]] = [
        lambda some: coordinates.hidden(coordinates.rows[some]),
        lambda some: weights[some] - mean,
        lambda some: weights[some].astype(np.float64, copy=False),
    ]
    shown = tqdm(total=v, desc="classes", unit="class", leave=False, disable=None)

    def show() -> None:
        shown.update(v - len(result.undecided()) - shown.n)

    together = len(result.undecided()) > MANY * v and certificates.accept_own_directions(coordinates)
    show()
    rounds, most = effort * coordinates.rows.shape[1] + MORE_ROUNDS, v * (1 + SPARE)
    if together and coordinates.rows.shape[1] > EQUATIONS:
        tilting.decide(certificates, coordinates, TURNS * effort, show)
        directions, most = [], effort * PRODUCTS // (rounds * coordinates.rows.shape[1] ** 2)
    for direction in directions:
        left = result.undecided()
        for block in certificates.blocks(len(left)):
            certificates.accept_witnesses(direction(left[block]))
            show()
    left = result.undecided()
    working_set, m = WorkingSet(coordinates.rows, v), coordinates.rows.shape[1]
    spare = np.full((v, SPARE), NONE)  # rows of each class's first combination, in turn banned from others
    for attempt in range(1 + SPARE):
        left, most = left[:most], most - len(left[:most])
        for start in range(0, len(left), chunk := max(1, NUMBERS // m)):
            some = left[start : start + chunk]
            some = some[certificates.is_undecided[some]]
            banned = np.maximum(spare[some, attempt - 1], NONE) if attempt else np.full(len(some), NONE)
            search = working_set.search(some, banned, certificates.is_undecided, rounds)
            for block in certificates.blocks(len(search.directions)):
                certificates.accept_witnesses(coordinates.hidden(search.directions[block]))
            certificates.accept_combinations(some, search.supports)
            combined = np.linalg.norm(search.residuals, axis=1) < CLOSE
            for block in certificates.blocks(len(some)):
                hidden = coordinates.hidden(search.residuals[block])
                hidden[combined[block]] = np.nan
                certificates.settle_exactly(some[block], hidden, search.supports[block])
            show()
            if attempt == 0:
                spare[some[combined]] = _lightest(search.supports[combined], search.weights[combined])
                spare[some[search.supports[:, 0] < 0], 0] = UNEXAMINED
        left = result.undecided()
        left = left[spare[left, min(attempt, SPARE - 1)] != NONE]
    shown.close()


def _lightest(supports: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the rows of each combination that weigh least, but not by rounding only, (c, SPARE), padded with -1."""
    weights = np.pad(np.where(weights > NOTICEABLE, weights, np.inf), ((0, 0), (0, SPARE)), constant_values=np.inf)
    supports = np.pad(supports, ((0, 0), (0, SPARE)), constant_values=-1)
    order = np.argsort(weights, axis=1)[:, :SPARE]
    return np.where(np.isinf(np.take_along_axis(weights, order, 1)), -1, np.take_along_axis(supports, order, 1))


def checked_head(
    weights: np.ndarray, bias: np.ndarray | None, kept: type[np.floating] = np.float64
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return both in float64, the bias as None if it is constant, which changes no order; errors as of `argmaxable`.

    Weights of the type `kept` are not copied.
    """
    weights = _checked("weights", weights, (None, None), kept=kept)
    if bias is not None:
        bias = _checked("bias", bias, (len(weights),))
        bias = bias if np.ptp(bias) else None
    return weights, bias


def _checked(
    name: str, values: np.ndarray, shape: tuple[int | None, ...], first: int = 0, kept: type[np.floating] = np.float64
) -> np.ndarray:
    values = np.asarray(values)
    values = values if values.dtype == kept else values.astype(np.float64, copy=False)
    if values.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, values.shape, strict=True)):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise ValueError(f"{name}: shape {values.shape}, but ({wanted}) was expected")
    if len(values) == 0:
        raise ValueError(f"{name}: no rows")
    if not np.isfinite(values).all():
        bad = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
        raise ValueError(f"{name}: row {first + int(bad.argmax())} has NaN or an infinite value")
    return values
