"""The truths that a head is held against at positions of documents: the model mixed with memories, and controls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from oversmoothing.models.heads import read_model_head
from studies.real_head.documents import Documents
from studies.real_head.memories import Passage, Weighted, nearest, neighbours, neural, ngram, squared_distances
from studies.real_head.mixture import mixed
from studies.real_head.names import ALL, FLATTER, LONGER, SHUFFLED

TEMPERATURE = 1.25  # of the truth that is the model with flatter distributions


@dataclass(frozen=True)
class Choice:
    """What was chosen: the `sharpness` of memories, by name, and their `parts` of each truth, by cell and name."""

    sharpness: Mapping[str, float]
    parts: Mapping[str, Sequence[Mapping[str, float]]]  # see `mixture.cell`
    scale: float  # see `memories.spread`
    neighbours: int


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
        """Log-probabilities, float64 (..., v), of what enters the head (..., d)."""
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
