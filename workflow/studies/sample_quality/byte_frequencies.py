"""Byte frequencies of a set of samples, compared with a human set (thesis 5.2, Figure 5.1)."""

from collections.abc import Sequence

import numpy as np

BYTES = 256


def count_bytes(texts: Sequence[bytes]) -> np.ndarray:
    """Return the byte counts of each text, int64 (n, 256)."""
    counts = [np.bincount(np.frombuffer(text, np.uint8), minlength=BYTES) for text in texts]
    return np.array(counts, np.int64).reshape(len(texts), BYTES)


def relative_frequencies(counts: np.ndarray) -> np.ndarray:
    """Return the relative frequency of each byte in a whole set, (256,), from the counts of its texts (Figure 5.1)."""
    total = counts.sum(axis=0)
    if not total.sum():
        raise ValueError("a set of empty texts has no byte frequencies")
    return total / total.sum()


def byte_tv(human: np.ndarray, model: np.ndarray) -> float:
    """Return the total variation between the byte frequencies of two sets of counts: half the sum of abs(p - q).

    The thesis's script counts both sets in one counter, and so prints half of this value.
    """
    return min(1.0, float(np.abs(relative_frequencies(human) - relative_frequencies(model)).sum() / 2))


def rarest_bytes(human: np.ndarray, n: int = 10) -> np.ndarray:
    """Return the n bytes that occur least often in a set of texts, among those that occur, from its counts."""
    counts = human.sum(axis=0)
    return np.argsort(np.where(counts > 0, counts, np.iinfo(np.int64).max), kind="stable")[:n]
