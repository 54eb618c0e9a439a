"""Sets of classes that a head can score above all others, logits = W h + b: the top-k sets that it can give.

A set S is possible if some h makes the lowest logit of S higher than the highest one outside it. With a threshold t
between the two, that is w_i . h + b_i + t > 0 for all i in S, and < 0 for all others. Change the sign of the rows
(w_i, 1) and of the biases of S, and add a class whose row and bias are 0. This class leads at (h, t) exactly where h
gives S. So S is possible if and only if the added class is argmaxable, and `argmaxability.classes` decides it with a
proof. Of an impossible S a convex combination of its rows equals one of the others, without a bias.

Most sets need no search: a few reflections of a direction that favours them find their h.
"""

import numpy as np

from oversmoothing.argmaxability.classes import argmaxable_one, checked_head
from oversmoothing.argmaxability.proofs import proven_leads
from oversmoothing.argmaxability.result import ARGMAXABLE, UNARGMAXABLE, UNDECIDED, Argmaxability

POSSIBLE, IMPOSSIBLE = "possible", "impossible"
REFLECTIONS = 40  # of the direction of a set
NEGLIGIBLE = 1e-12  # share of the largest eigenvalue of the scatter below which a direction counts as absent


def top_sets(
    weights: np.ndarray,
    bias: np.ndarray | None,
    sets: np.ndarray,
    searches: int | None = None,
    scatter: np.ndarray | None = None,
) -> np.ndarray:
    """Return whether each set is "possible" or "impossible" as the highest classes of a head, or "undecided" (n,).

    Parameters
    ----------
    weights, bias : array, shape (v, d), and array, shape (v,), or None
        The head, taken as exact, in float64.
    sets : int array, shape (n, k)
        Classes, none twice in a row.
    searches : int, optional
        Sets that are searched for a proof if reflections find none: by default all. One takes seconds in a large head.
    scatter : array, shape (d, d), optional
        W_c^T W_c of the rows less their mean, if it is known; up to rounding, as only the search depends on it.

    Raises
    ------
    ValueError
        If the head is not as `argmaxable` expects.

    Examples
    --------
    Of three rows on a line, the outer two cannot be the highest two.

    >>> import numpy as np
    >>> from oversmoothing.argmaxability.top_sets import top_sets
    >>> top_sets(np.array([[1.0], [2.0], [3.0]]), None, np.array([[0, 1], [0, 2]])).tolist()
    ['possible', 'impossible']
    """
    weights, bias = checked_head(weights, bias)
    status = np.full(len(sets), UNDECIDED, dtype="<U10")
    if scatter is None:
        centred = weights - weights.mean(axis=0)
        scatter = centred.T @ centred
    status[_reflected(weights, bias, sets, scatter) > 0] = POSSIBLE
    names = {ARGMAXABLE: POSSIBLE, UNARGMAXABLE: IMPOSSIBLE, UNDECIDED: UNDECIDED}
    for n in np.flatnonzero(status == UNDECIDED)[:searches].tolist():
        status[n] = names[str(search(weights, bias, sets[n]).status[-1])]
    return status


def search(weights: np.ndarray, bias: np.ndarray | None, members: np.ndarray) -> Argmaxability:
    """Decide a set by the last class of its `signed` head."""
    return argmaxable_one(*signed(weights, bias, members), len(weights))


def signed(weights: np.ndarray, bias: np.ndarray | None, members: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the head (v + 1, d + 1), and its bias, whose last class is argmaxable if and only if a set is possible."""
    v, d = weights.shape
    rows, signs = np.ones((v + 1, d + 1)), np.ones(v)
    rows[:v, :d], rows[v] = weights, 0.0
    rows[members] *= -1.0
    signs[members] = -1.0
    return rows, None if bias is None else np.append(bias * signs, 0.0)


def _reflected(weights: np.ndarray, bias: np.ndarray | None, sets: np.ndarray, scatter: np.ndarray) -> np.ndarray:
    """Return proven bounds of the widest leads that reflections find (n,), not positive where they find none.

    As for single classes (Grivas, Bogoychev and Lopez, ACL 2022): the direction is changed, in the metric in which the
    rows are white, so that the lowest class of the set and the highest one outside change places.
    """
    inverse = np.linalg.pinv(scatter, rcond=NEGLIGIBLE, hermitian=True)
    hidden = (weights[sets] - weights.mean(axis=0)).sum(axis=1) @ inverse
    lead, left = np.full(len(sets), -np.inf), np.arange(len(sets))
    for _ in range(REFLECTIONS):
        lead[left] = proven_leads(weights, bias, hidden, sets[left])
        going = ~(lead[left] > 0)
        left, hidden = left[going], hidden[going]
        if not len(left):
            break
        logits = hidden @ weights.T + (0.0 if bias is None else bias)
        each = np.arange(len(left))[:, None]
        inside = logits[each, sets[left]]
        lowest = sets[left][each[:, 0], inside.argmin(axis=1)]
        logits[each, sets[left]] = -np.inf
        apart = weights[lowest] - weights[logits.argmax(axis=1)]
        shift = apart @ inverse
        length = (apart * shift).sum(axis=1)
        missing = logits.max(axis=1) - inside.min(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            hidden = hidden + np.where(length > 0, 2 * missing / length, 0.0)[:, None] * shift
    return lead
