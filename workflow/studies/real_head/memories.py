"""What remembers a text, as distributions of its next token: three memories, each a weighting of tokens seen before.

References
----------
E. Grave, A. Joulin and N. Usunier, "Improving neural language models with a continuous cache", ICLR 2017 (`neural`).
U. Khandelwal et al., "Generalization through memorization: nearest neighbor language models", ICLR 2020 (`neighbours`).
I. Witten and T. Bell, "The zero-frequency problem", IEEE Transactions on Information Theory 37, 1991 (`ngram`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

Weighted = tuple[np.ndarray, np.ndarray]  # tokens, int (k,), none twice, and their probabilities, float64 (k,)
NOTHING: Weighted = np.empty(0, np.int64), np.empty(0)
BLOCK = 256  # positions whose distances are held at once
ORDER = 5  # tokens of the longest n-gram, the last being predicted


@dataclass(frozen=True)
class Passage:
    """The tokens of a document, int (n + 1,), and what enters the head at the first n of them, float32 (n, d)."""

    tokens: np.ndarray
    states: np.ndarray

    @property
    def next(self) -> np.ndarray:
        """The token that follows each state, int (n,)."""
        return self.tokens[1:]


def neural(
    passage: Passage, distances: np.ndarray, sharpness: float, past: Passage | None = None
) -> Iterator[Weighted]:
    """Yield of each position the continuous cache: tokens that followed earlier states, the nearer ones the more.

    The weight of an earlier state is proportional to exp(-`sharpness` times its squared distance), of `distances`
    (n, m). They are those from the states of `past`, which is remembered in place of the passage, as far as the
    position.
    """
    past = past or passage
    for position in range(len(passage.states)):
        seen = min(position, len(past.next))
        yield merged(past.next[:seen], softmax(-sharpness * distances[position, :seen])) if seen else NOTHING


def neighbours(near: np.ndarray, distances: np.ndarray, sharpness: float) -> Iterator[Weighted]:
    """Yield of each position what followed its nearest states (n, k) of other documents, weighted as in `neural`."""
    for tokens, far in zip(near, distances, strict=True):
        yield merged(tokens, softmax(-sharpness * far))


def nearest(passage: Passage, others: Passage, scale: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return of each position the tokens that followed the `count` nearest states of `others`, and their distances."""
    tokens, distances = [], []
    for some in np.array_split(passage.states, -(-len(passage.states) // BLOCK)):
        far = squared_distances(some, others.states, scale)
        place = np.argpartition(far, min(count, far.shape[1]) - 1, axis=1)[:, :count]
        tokens.append(others.next[place])
        distances.append(np.take_along_axis(far, place, axis=1))
    return np.concatenate(tokens), np.concatenate(distances)


def ngram(passage: Passage, past: Passage | None = None) -> Iterator[Weighted]:
    """Yield of each position the n-grams of the text so far, interpolated as Witten and Bell do.

    With c(h w) the count of the token w after the context h, and T(h) of different ones, the distribution after h is
    (c(h w) + T(h) P(w | h')) / (c(h) + T(h)), where h' is h without its first token; the last is c(w) / n.
    """
    past = past or passage
    counts: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for position in range(len(passage.states)):
        if position < len(past.tokens):
            for length in range(min(ORDER, position + 1)):
                counts[tuple(past.tokens[position - length : position])][int(past.tokens[position])] += 1
        yield _backed_off(counts, passage.tokens[: position + 1])


def _backed_off(counts: Mapping[tuple[int, ...], Counter[int]], read: np.ndarray) -> Weighted:
    found: dict[int, float] = {}
    for length in range(min(ORDER - 1, len(read)) + 1):
        followed = counts.get(tuple(read[len(read) - length :]))
        if not followed:
            break
        total, kinds = followed.total(), len(followed) if length else 0
        found = {token: kinds * share / (total + kinds) for token, share in found.items()}
        for token, count in followed.items():
            found[token] = found.get(token, 0.0) + count / (total + kinds)
    return np.array(list(found), np.int64), np.array(list(found.values()), np.float64)


def merged(tokens: np.ndarray, weights: np.ndarray) -> Weighted:
    """Return each token once, with the sum of its weights."""
    kinds, place = np.unique(tokens, return_inverse=True)
    return kinds, np.bincount(place, weights, len(kinds))


def squared_distances(a: np.ndarray, b: np.ndarray, scale: float) -> np.ndarray:
    """Return the squared distances of all pairs of rows in units of `scale`, float32 (n, m)."""
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)
    return np.maximum(squares - 2 * a @ b.T, 0) / np.float32(scale)


def spread(states: np.ndarray) -> float:
    """Return the mean squared distance of two states, drawn with replacement: the unit of a `sharpness`."""
    states = states.astype(np.float64)
    return float(2 * (states - states.mean(axis=0)).var(axis=0).sum())


def probability(memory: Weighted, token: int) -> float:
    """Return the probability that a memory gives a token; NaN if it remembers nothing."""
    tokens, weights = memory
    return float(weights[tokens == token].sum()) if len(tokens) else np.nan
