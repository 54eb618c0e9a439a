"""The truths that a head is held against at positions of documents: the model mixed with memories, and controls."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
from scipy.special import log_softmax

from oversmoothing.models.heads import read_model_head
from studies.real_head.documents import Documents
from studies.real_head.files import LEVELS, read_choice
from studies.real_head.memories import Passage, Weighted, nearest, neighbours, neural, ngram, squared_distances
from studies.real_head.names import ALL, FLATTER, LONGER, SHUFFLED

TEMPERATURE = 1.25  # of the truth that is the model with flatter distributions
STEPS = 300  # of expectation maximisation
SETTLED = 1e-9  # nats a token, that a step gains when it is the last


@dataclass(frozen=True)
class Choice:
    """What was chosen: the `sharpness` of memories, by name, and their `parts` of each truth, by cell and name."""

    sharpness: Mapping[str, float]
    parts: Mapping[str, Sequence[Mapping[str, float]]]  # see `cell`
    scale: float  # see `memories.spread`
    neighbours: int

    @classmethod
    def read(cls, path: str) -> "Choice":
        """Return what the file of a text says."""
        return cls(**read_choice(path))


@dataclass(frozen=True)
class Head:
    """Weights (v, d) and bias (v,) of the model's head, float64."""

    weights: np.ndarray
    bias: np.ndarray

    @classmethod
    def read(cls, path: str, rank: int | None = None) -> "Head":
        """Return the head of a file, truncated to a rank, if one is given."""
        own = read_model_head(path, rank)
        weights = own.weights.astype(np.float64)
        return cls(weights, np.zeros(len(weights)) if own.bias is None else own.bias.astype(np.float64))

    def log_q(self, states: np.ndarray) -> np.ndarray:
        """Return log-probabilities, float64 (..., v), of what enters the head (..., d)."""
        return log_softmax(states.astype(np.float64) @ self.weights.T + self.bias, axis=-1)


def memories_of(
    documents: Documents, number: int, choice: Choice, past: Passage | None = None
) -> dict[str, list[Weighted]]:
    """Return what each memory gives at the positions of a document; `past` is remembered in place of the document."""
    passage, sharp = documents.passage(number), choice.sharpness
    distances = squared_distances(passage.states, (past or passage).states, choice.scale)
    near = nearest(passage, documents.others(number), choice.scale, choice.neighbours)
    return {
        "neural": list(neural(passage, distances, sharp["neural"], past)),
        "ngram": list(ngram(passage, past)),
        "neighbours": list(neighbours(*near, sharp["neighbours"])),
    }


def beside(
    documents: Documents, truth: str, choice: Choice, model: Head, head: Head, places: Sequence[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], np.ndarray, np.ndarray]]:
    """Yield places (document, position), p (v,) of the truth made of `model`, and log q (v,) of a `head` there."""
    for number, of_document in groupby(places, itemgetter(0)):
        here = list(of_document)
        truths, states = distributions(documents, number, [position for _, position in here], truth, choice, model)
        yield from zip(here, truths, head.log_q(states), strict=True)


def distributions(
    documents: Documents, number: int, positions: Sequence[int], truth: str, choice: Choice, model: Head
) -> tuple[np.ndarray, np.ndarray]:
    """Return at positions of a document the truth p, float64 (n, v), and the states (n, d) of what it is held against.

    `LONGER` is the model after all the text, held against the model after a short context, and `FLATTER` the model at
    a temperature. `SHUFFLED` is the mixture `ALL` with the past of the next document in place of the document's own.
    """
    passage = documents.passage(number)
    states, log_q = passage.states[positions], model.log_q(passage.states[positions])
    if truth == LONGER:
        return np.exp(log_q), documents.passage(number, "short_state").states[positions]
    if truth == FLATTER:
        return np.exp(log_softmax(log_q / TEMPERATURE, axis=-1)), states
    past = documents.passage(documents.after(number)) if truth == SHUFFLED else None
    memories = memories_of(documents, number, choice, past)
    parts = choice.parts[ALL if truth == SHUFFLED else truth]
    of = [{name: given[at] for name, given in memories.items()} for at in positions]
    return np.stack([mixed(np.exp(q), own, parts) for q, own in zip(log_q, of, strict=True)]), states


def shares(probabilities: np.ndarray) -> np.ndarray:
    """Return the shares (k,) of k distributions whose mixture gives tokens the highest likelihood.

    `probabilities` (n, k) are what each gives the n tokens, and 1 token more is one that the first alone gives, so
    that its share is above 0. The logarithm of the likelihood is concave in the shares, and expectation maximisation
    climbs it.
    """
    part, reached = np.full(probabilities.shape[1], 1 / probabilities.shape[1]), -np.inf
    more = np.eye(len(part))[0]
    for _ in range(STEPS):
        together = probabilities @ part
        if (now := float(np.log(together).sum() + np.log(part[0]))) < reached + SETTLED * len(together):
            break
        given = (probabilities / together[:, None]).sum(axis=0)
        part, reached = (part * given + more) / (len(together) + 1), now
    return part


def filled(model: np.ndarray, memories: Sequence[np.ndarray]) -> np.ndarray:
    """Return probabilities (n, 1 + k) of the model and of memories, each (n,).

    Where a memory has nothing, the model's stands.
    """
    return np.stack([model, *(np.where(np.isnan(own), model, own) for own in memories)], axis=1)


def cell(highest: Sequence[np.ndarray]) -> np.ndarray:
    """Return the number (n,) of the cell of memories by their confidences among `LEVELS`.

    Each confidence is the highest probability (n,).
    """
    places = [np.searchsorted(LEVELS, own, side="right") for own in highest]
    return np.ravel_multi_index(places, [len(LEVELS) + 1] * len(places))


def mixed(q: np.ndarray, memories: Mapping[str, Weighted], parts: Sequence[Mapping[str, float]]) -> np.ndarray:
    """Return the distribution (v,): q (v,), mixed with the memories that have something.

    Their parts are those in the cell of their confidences.
    """
    here = parts[int(cell([np.array([memories[name][1].max(initial=0.0)]) for name in parts[0]])[0])]
    there = {name: part for name, part in here.items() if len(memories[name][0])}
    p = (1 - sum(there.values())) * q
    for name, part in there.items():
        tokens, weights = memories[name]
        p[tokens] += part * weights
    return p / p.sum()
