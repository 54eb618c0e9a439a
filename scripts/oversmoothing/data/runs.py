"""Runs of words that two texts share, by which overlapping splits are detected."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

# The odd 64-bit multiplier of Knuth's MMIX generator; it makes a run's hash depend on the order of the words.
MULTIPLIER = np.uint64(6364136223846793005)
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\u2018\u2019\u201c\u201d\u2013\u2014\u2026"
CACHED_WORDS = 1_000_000  # about 150 MB at most


def run_hashes(text: str, length: int) -> np.ndarray:
    """Hash every run of `length` consecutive words of a text.

    Words are separated by white space, in lower case and without punctuation at their ends (a word of punctuation
    alone keeps it), so any run that two texts share literally also has equal hashes, on every machine. Different runs
    collide with a probability of about 2**-64. uint64, shape (words - length + 1,), empty for a shorter text.
    """
    words = np.array([_WORD_HASHES[word] for word in text.split()], dtype=np.uint64)
    count = max(0, len(words) - length + 1)
    hashes = np.zeros(count, dtype=np.uint64)
    for start in range(length if count else 0):
        hashes *= MULTIPLIER  # modulo 2**64
        hashes += words[start : start + count]
    return hashes


def collect(hashes: Iterable[np.ndarray]) -> np.ndarray:
    """Merge arrays of hashes into one sorted array without repeats, for `is_known`."""
    return np.unique(np.concatenate([np.zeros(0, np.uint64), *hashes]))


def is_known(hashes: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the mask of the hashes that are in the sorted array `known`."""
    if not len(known):
        return np.zeros(len(hashes), bool)
    return known[np.minimum(np.searchsorted(known, hashes), len(known) - 1)] == hashes


class _WordHashes(dict[str, int]):
    """Cache of 64-bit hashes of words; Python's own hash() is salted and differs between runs."""

    def __missing__(self, word: str) -> int:
        if len(self) >= CACHED_WORDS:
            self.clear()
        bare = word.lower().strip(PUNCTUATION) or word
        self[word] = value = int.from_bytes(blake2b(bare.encode(), digest_size=8).digest(), "little")
        return value


_WORD_HASHES = _WordHashes()
