"""The divergence of a model from a truth, divided into what its head forces and the rest."""

import numpy as np
from scipy.special import logsumexp

from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.head import Head, prepare
from oversmoothing.forced.projection import Projection, project_on

OFF_FAMILY = 1e-4  # nats: mean divergence above which logits are not those of the head; states in bf16 give 1e-7


def on_family(head: Head, logits: np.ndarray) -> np.ndarray:
    """Return log-probabilities, float64 (n, v), of a head's distributions that are closest to stored logits (n, v).

    Logits are stored in float32, or rebuilt from states in bf16, so they lie off the family by rounding, and the
    identity KL(p || q) = KL(p || q*) + KL(q* || q) would hold only up to that. A `ValueError` says if they lie off it
    by more.
    """
    stored = logits.astype(np.float64)
    stored -= logsumexp(stored, axis=1, keepdims=True)
    if head.full:
        return stored
    closest = head.coordinates(stored) @ head.columns.T + head.bias
    closest -= logsumexp(closest, axis=1, keepdims=True)
    off = float(divergence(np.exp(stored), closest).mean())
    if not off <= OFF_FAMILY:
        raise ValueError(f"logits that lie {off:.2g} nats off what its head can give")
    return closest


def divide(head: Head | np.ndarray, logits: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, Projection, np.ndarray]:
    """Return a model's distributions and its divergence from the truth in two parts, what its head forces and the rest.

    KL(p || q) = KL(p || q*) + KL(q* || q) for the truth p, the model q and the nearest distribution q* that the head
    can give. The rest is what the forced part leaves of the KL, and so as accurate as that is. KL(q* || q) is the same,
    but of a q* that is found up to a gap it errs by the gap's root.

    Parameters
    ----------
    head : Head, or array, shape (v, r)
        The model's head: `forced.prepare`, or W itself, which has no bias and is prepared in each call.
    logits : array, shape (n, v)
        The model's, or log-probabilities.
    truth : array, shape (n, v)
        The truth's distributions, float64.

    Returns
    -------
    log_q : float64 array, shape (n, v)
        The model's log-probabilities, without the rounding that takes them off what the head can give.
    nearest : Projection
        Its `forced` is the first part, KL(p || q*), in nats.
    rest : float64 array, shape (n,)
        The second part, in nats.

    Raises
    ------
    ValueError
        If the logits lie further off what the head can give than rounding does: a cap, a mixture, or another head.

    Examples
    --------
    >>> import numpy as np
    >>> from oversmoothing import forced
    >>> weights, truth = np.array([[1.0], [0.0], [-1.0]]), np.array([[0.4, 0.2, 0.4]])
    >>> log_q, nearest, rest = forced.divide(forced.prepare(weights), np.array([[0.5]]) @ weights.T, truth)
    >>> nearest.forced.round(4), rest.round(4)
    (array([0.0437]), array([0.0817]))
    """
    head = head if isinstance(head, Head) else prepare(head)
    log_q = on_family(head, logits)
    nearest = project_on(head, truth, log_q)
    return log_q, nearest, np.maximum(divergence(truth, log_q) - nearest.forced, 0)
