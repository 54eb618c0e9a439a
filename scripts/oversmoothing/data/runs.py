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
    alone keeps it), so any run that two texts share literally also has equal hashes.

    Returns
    -------
    numpy.ndarray of uint64, shape (words - length + 1,)
        Empty for a shorter text. Equal runs have equal hashes on every machine; two different ones collide with a
        probability of about 2**-64.
    """
    words = np.array([_WORD_HASHES[word] for word in text.split()], dtype=np.uint64)
    count = max(0, len(words) - length + 1)
    hashes = np.zeros(count, dtype=np.uint64)
    for start in range(length if count else 0):
        hashes *= MULTIPLIER  # modulo 2**64
        hashes += words[start : start + count]
    return hashes


def collect(hashes: Iterable[np.ndarray]) -> np.ndarray:
    """Merge arrays of hashes into one sorted array without repeats, for `shares_run`."""
    arrays = list(hashes)
    return np.unique(np.concatenate(arrays)) if arrays else np.zeros(0, dtype=np.uint64)


def shares_run(hashes: np.ndarray, known: np.ndarray) -> bool:
    """Whether any of `hashes` is in the sorted array `known`."""
    if not len(hashes) or not len(known):
        return False
    ordered = np.sort(hashes)  # sorted keys access memory in order
    places = np.searchsorted(known, ordered)
    return bool(np.any(known[np.minimum(places, len(known) - 1)] == ordered))


class _WordHashes(dict[str, int]):
    """Cache of 64-bit hashes of words; Python's own hash() is salted and differs between runs."""

    def __missing__(self, word: str) -> int:
        if len(self) >= CACHED_WORDS:
            self.clear()
        bare = word.lower().strip(PUNCTUATION) or word
        value = int.from_bytes(blake2b(bare.encode(), digest_size=8).digest(), "little")
        self[word] = value
        return value


_WORD_HASHES = _WordHashes()
