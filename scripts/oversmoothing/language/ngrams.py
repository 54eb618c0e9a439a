"""Which tokens follow which contexts in a text: counts of n-grams under sorted keys, in bounded memory.

A context is a number and so is an n-gram, never a Python object. The key of an n-gram is (number of its first n - 1
tokens) v + (its last token), so that sorted keys have the tokens that follow one context side by side.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse import csr_array

from oversmoothing.jobs import UserError

BLOCK = 1 << 22  # tokens whose n-grams are sorted at a time: it bounds the memory, not the result
ENTRIES = 1 << 20  # of the matrix that are built at a time
LARGEST = 1 << 64

Keys = Callable[[int, int], np.ndarray]


def count_ngrams(
    tokens: np.ndarray, n: int, v: int, block: int = BLOCK, shuffle: np.random.Generator | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Count the n-grams of a text, or those of the same contexts with the tokens after them shuffled.

    Parameters
    ----------
    tokens : int array, shape (t,)
        Each in [0, v); it may be a mapped file.
    n : int
        At least 1.
    v : int
        Size of the vocabulary.
    block : int
        Tokens read at a time. Memory grows with it and with the number of different n-grams.
    shuffle : Generator or None
        Permutes the last tokens of all n-grams of the text among each other. Each context occurs as often as before,
        so does each last token, and the one says nothing of the other any more: the matrix has a true rank of 1, and
        what its W-error has beyond one dimension is noise of sampling. (A text whose tokens are all shuffled has other
        contexts, and fewer that are seen twice.)

    Returns
    -------
    keys : uint64 array, shape (k,)
        Of the n-grams that occur, sorted. ``key // v`` names the context, the first n - 1 tokens, ``key % v`` is the
        last token.
    counts : int64 array, shape (k,)

    Raises
    ------
    UserError
        If the text is shorter than n tokens.
    """
    if len(tokens) < n:
        raise UserError(
            f"language.contexts: a context of {n - 1} tokens and the next one need {n}, but the text has "
            f"{len(tokens)}: shorten the context or give more text"
        )
    last = tokens[n - 1 :] if shuffle is None else shuffle.permutation(tokens[n - 1 :])
    return _count(_numbering(tokens, n, v, block, last), len(tokens) - n + 1, block)


def count_contexts(keys: np.ndarray, v: int) -> int:
    """Count the different contexts among sorted keys of n-grams."""
    return len(_starts(keys // np.uint64(v)))


def number_contexts(keys: np.ndarray, v: int) -> tuple[np.ndarray, np.ndarray]:
    """Give the different contexts among sorted keys of n-grams numbers.

    Returns
    -------
    numbers : int64 array, shape (k,)
        From 0, of the context of each n-gram.
    starts : int64 array, shape (contexts,)
        The first n-gram of each.
    """
    starts = _starts(keys // np.uint64(v))
    return np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(keys)))), starts


def conditional_rows(keys: np.ndarray, counts: np.ndarray, v: int, entries: int = ENTRIES) -> Iterator[csr_array]:
    """Yield the n-gram matrix W in blocks of whole rows: a row is the distribution of the token after one context.

    Every context that occurs is one row, however often it does (Godey et al. 2024).

    Parameters
    ----------
    keys, counts : arrays, shape (k,)
        As `count_ngrams` gives them.
    v : int
    entries : int
        About how many entries of W a block has.

    Yields
    ------
    csr_array of float64, shape (rows, v)
        Rows sum to 1.
    """
    starts = _starts(keys // np.uint64(v))
    ends = np.append(starts[1:], len(keys))
    first = 0
    while first < len(starts):
        last = max(first + 1, int(np.searchsorted(ends, starts[first] + entries, side="right")))
        own = slice(starts[first], ends[last - 1])
        borders = np.append(starts[first:last], ends[last - 1]) - starts[first]
        totals = np.add.reduceat(counts[own], borders[:-1])
        shares = counts[own] / np.repeat(totals, np.diff(borders))
        yield csr_array((shares, (keys[own] % np.uint64(v)).astype(np.int32), borders), shape=(last - first, v))
        first = last


def _numbering(tokens: np.ndarray, n: int, v: int, block: int, last: np.ndarray) -> Keys:
    """Give the function that names the n-grams which begin at positions from start to stop and end in `last`.

    Where v^n numbers are more than 64 bits hold, the (n - 1)-grams that occur are numbered first: they are at most as
    many as the text has tokens.
    """
    if v**n <= LARGEST:
        return lambda start, stop: (
            _pack(tokens[start : stop + n - 2], n - 1, v) * np.uint64(v) + last[start:stop].astype(np.uint64)
        )
    shorter = _numbering(tokens, n - 1, v, block, tokens[n - 2 :])
    known, _ = _count(shorter, len(tokens) - n + 1, block)

    def keys(start: int, stop: int) -> np.ndarray:
        context = np.searchsorted(known, shorter(start, stop)).astype(np.uint64)
        return context * np.uint64(v) + last[start:stop].astype(np.uint64)

    return keys


def _pack(tokens: np.ndarray, n: int, v: int) -> np.ndarray:
    size = len(tokens) - n + 1
    keys = np.zeros(size, np.uint64)
    for place in range(n):
        keys *= np.uint64(v)
        keys += tokens[place : place + size].astype(np.uint64)
    return keys


def _count(keys: Keys, size: int, block: int) -> tuple[np.ndarray, np.ndarray]:
    found, counts = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    for start in range(0, size, block):
        own, times = np.unique(keys(start, min(start + block, size)), return_counts=True)
        found, counts = np.concatenate([found, own]), np.concatenate([counts, times])
        order = np.argsort(found, kind="stable")  # two sorted runs: a merge
        found, counts = found[order], counts[order]
        starts = _starts(found)
        found, counts = found[starts], np.add.reduceat(counts, starts)
    return found, counts


def _starts(values: np.ndarray) -> np.ndarray:
    """Say where in sorted values each new one begins."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1]))
