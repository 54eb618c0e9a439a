"""Heads and distributions as language models have them, made from a seed: for tests of BAT and benchmarks/."""

import numpy as np

from oversmoothing.scores.probabilities import softmax

KINDS = ("gauss", "zipf", "low rank", "repeated", "ppmi")


def head(kind: str, v: int, d: int, generator: np.random.Generator) -> np.ndarray:
    """Draw a head (v, d) of one of `KINDS`."""
    if kind == "ppmi":
        return ppmi(v, d, generator)
    weights = generator.normal(size=(v, d))
    if kind == "zipf":
        weights[:, -1] = -np.log(np.arange(1, v + 1)) + 0.3 * generator.normal(size=v)
    elif kind == "low rank":
        weights = weights[:, : d // 2 + 1] @ generator.normal(size=(d // 2 + 1, d))
    elif kind == "repeated":
        weights = weights[generator.integers(0, v - v // 4, size=v)]
    return weights


def draw(kind: str, v: int, d: int, seed: int, n: int = 1, least: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Draw a head (v, d) of one of `KINDS` and n of its distributions, of `least` nats to nine tenths of the most."""
    generator = np.random.default_rng([KINDS.index(kind), v, d, seed])
    weights = head(kind, v, d, generator)
    return weights, distributions(weights, generator.uniform(least, 0.9 * np.log(v), n), generator)


def ppmi(v: int, d: int, generator: np.random.Generator) -> np.ndarray:
    """Factors of the positive pointwise mutual information of a bigram model with Zipf's frequencies.

    Each context mixes topics, and each topic prefers some tokens; d - 1 factors, and the log unigrams as the last
    column.
    """
    unigrams = 1 / (np.arange(1, v + 1) + 2.7)
    unigrams /= unigrams.sum()
    topics, contexts = min(4 * d, 256), 2 * d
    preferred = np.exp(1.5 * generator.standard_normal((v, topics), np.float32))  # relative to the unigrams
    preferred /= unigrams.astype(np.float32) @ preferred
    information = preferred @ generator.dirichlet(np.full(topics, 0.05), contexts).T.astype(np.float32)
    np.maximum(np.log(information, out=information), 0, out=information)
    values, vectors = np.linalg.eigh((information.T @ information).astype(np.float64))
    values, vectors = values[: contexts - d : -1], vectors[:, : contexts - d : -1]
    factors = information @ (vectors * values**-0.25).astype(np.float32)
    return np.concatenate([factors, np.log(unigrams)[:, None]], axis=1).astype(np.float64)


def distributions(weights: np.ndarray, nats: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Distributions (n, v) that a head can give, with given entropies as far as it can give them."""
    p = np.empty((len(nats), len(weights)))
    for row, wanted in zip(p, nats, strict=True):
        logits = weights @ generator.normal(size=weights.shape[1])
        low, high = 0.0, 50 / logits.std()
        for _ in range(40):
            scale = (low + high) / 2
            row[:] = softmax(scale * logits[None])[0]
            low, high = (scale, high) if _nats(row) > wanted else (low, scale)
    return p


def _nats(p: np.ndarray) -> float:
    return float(-(p * np.log(np.maximum(p, 1e-300))).sum())
