"""A model mixed with memories: shares of a mixture that predict a text best, and its distributions."""

from collections.abc import Mapping, Sequence

import numpy as np

from studies.real_head.memories import Weighted

STEPS = 300  # of expectation maximisation
SETTLED = 1e-9  # nats a token, that a step gains when it is the last
LEVELS = (0.2, 0.6)  # of confidence in a token, between which the parts of memories differ


def shares(probabilities: np.ndarray) -> np.ndarray:
    """Return the shares (k,) of k distributions whose mixture gives tokens the highest likelihood.

    `probabilities` (n, k) are what each gives the n tokens, and 1 token more is one that the first alone gives, so
    that its share is above 0. The logarithm of the likelihood is concave in the shares, and expectation maximisation
    climbs it.
    """
    part, reached = np.full(probabilities.shape[1], 1 / probabilities.shape[1]), -np.inf
    more = np.eye(len(part))[0]
    for _ in range(STEPS):
        mixed = probabilities @ part
        if (now := float(np.log(mixed).sum() + np.log(part[0]))) < reached + SETTLED * len(mixed):
            break
        given = (probabilities / mixed[:, None]).sum(axis=0)
        part, reached = (part * given + more) / (len(mixed) + 1), now
    return part


def filled(model: np.ndarray, memories: Sequence[np.ndarray]) -> np.ndarray:
    """Probabilities (n, 1 + k) of the model and of memories, each (n,), with the model's where one has nothing."""
    return np.stack([model, *(np.where(np.isnan(own), model, own) for own in memories)], axis=1)


def cell(highest: Sequence[np.ndarray]) -> np.ndarray:
    """Number (n,) of the cell of memories by their confidences, the highest probability (n,) that each gives a token.

    Each confidence lies below, between or above the two of `LEVELS`.
    """
    places = [np.searchsorted(LEVELS, own, side="right") for own in highest]
    return np.ravel_multi_index(places, [len(LEVELS) + 1] * len(places))


def cells(count: int) -> int:
    """Number of cells of so many memories."""
    return (len(LEVELS) + 1) ** count


def mixed(q: np.ndarray, memories: Mapping[str, Weighted], parts: Sequence[Mapping[str, float]]) -> np.ndarray:
    """Distribution (v,): the model's, q (v,), and of memories their parts in the cell of their confidences.

    A memory that has nothing gives its part to q.
    """
    here = parts[int(cell([np.array([memories[name][1].max(initial=0.0)]) for name in parts[0]])[0])]
    there = {name: part for name, part in here.items() if len(memories[name][0])}
    p = (1 - sum(there.values())) * q
    for name, part in there.items():
        tokens, weights = memories[name]
        p[tokens] += part * weights
    return p / p.sum()
