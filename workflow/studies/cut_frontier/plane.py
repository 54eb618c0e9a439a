"""The plane in which cuts are compared: what is kept of the truth's nucleus, and what leaks out of it."""

from collections.abc import Iterator

import numpy as np

from oversmoothing.scores.nucleus import nucleus
from oversmoothing.scores.probabilities import softmax

LENGTHS = 40  # of the beginnings of a model's order that are tried, from one token to all of them
WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # of leak against what is kept


class Plane:
    """Distributions of a truth, from logits (n, v), with the nucleus that holds `tau` of each.

    Tokens with a logit of -inf are impossible; one whose probability is rounded to 0 is not.
    """

    def __init__(self, logits: np.ndarray, tau: float) -> None:
        self.p = p = softmax(logits)
        self.inside = nucleus(p, tau)
        self.within = np.where(self.inside, p, 0)
        self.outside = ~self.inside
        self.impossible = np.isneginf(logits)
        self.mass = self.within.sum(axis=1)

    def measures(self, q: np.ndarray, keep: np.ndarray) -> dict[str, np.ndarray]:
        r"""Measures (n,) of distributions `q` (n, v) that are cut to the tokens of `keep`, bool (n, v), and rescaled.

        With q' the result, p the truth and N its nucleus: ``leak``, TTO, is :math:`\sum_{i \notin N} \max(0, q'_i -
        p_i)`; ``kept``, the truth's mass that the result covers in its nucleus, :math:`\sum_{i \in N} \min(p_i, q'_i)`;
        ``reach``, the share of the nucleus that can be drawn at all; ``impossible``, the mass of q' on impossible
        tokens; and ``size``, the number of tokens left.
        """
        left = np.where(keep, q, 0)
        left /= left.sum(axis=1, keepdims=True)
        return {
            "leak": np.maximum(left - self.p, 0).sum(axis=1, where=self.outside),
            "kept": np.minimum(left, self.within).sum(axis=1),
            "reach": self.within.sum(axis=1, where=keep) / self.mass,
            "impossible": left.sum(axis=1, where=self.impossible),
            "size": keep.sum(axis=1),
        }


def in_hindsight(plane: Plane, q: np.ndarray, place: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
    """Yield weights, and the best cut of each distribution if the truth were known and leak weighed so much.

    A cut keeps the first tokens of the model's own order, as every threshold does; the best one maximises ``kept`` less
    the weight times ``leak``. No method that keeps a beginning of this order has more of that on average.

    Parameters
    ----------
    plane : Plane
    q : array, shape (n, v)
    place : int array, shape (n, v)
        Of each token in the order of the model, from 0.
    """
    lengths = tried(q.shape[1])
    found = [plane.measures(q, place < length) for length in lengths]
    kept, leak = (np.stack([of[name] for of in found]) for name in ("kept", "leak"))
    for weight in WEIGHTS:
        yield weight, place < lengths[np.argmax(kept - weight * leak, axis=0)][:, None]


def tried(v: int) -> np.ndarray:
    """Lengths of a beginning of v tokens, in about equal ratios."""
    return np.unique(np.round(np.geomspace(1, v, LENGTHS)).astype(int))


def places(q: np.ndarray) -> np.ndarray:
    """Place of each token in the order of decreasing probability, ties by id; int (n, v)."""
    order = np.argsort(-q, axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.broadcast_to(np.arange(q.shape[1]), q.shape), axis=1)
    return place
