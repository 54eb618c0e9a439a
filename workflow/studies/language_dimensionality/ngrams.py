"""Counts of the n-grams of a text under sorted keys, in bounded memory.

Contexts and n-grams are integers, never Python objects. The key of an n-gram is (number of its first n - 1 tokens) v +
(its last token), so that in sorted keys the tokens that follow one context are adjacent.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.sparse import csr_array

from oversmoothing.jobs import UserError

BLOCK = 1 << 22  # tokens whose n-grams are sorted at a time: it bounds the memory, not the result
ENTRIES = 1 << 20  # of the matrix, built at a time
LARGEST = 1 << 64

Keys = Callable[[int, int], np.ndarray]


def count_ngrams(
    tokens: np.ndarray, n: int, v: int, block: int = BLOCK, shuffle: np.random.Generator | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Count the n-grams of a text (t,) in [0, v): return their keys, uint64 (k,), sorted, and the counts, int64 (k,).

    Memory grows with `block`, the tokens read at a time, and with the number of distinct n-grams. ``key // v`` is the
    context, the first n - 1 tokens, and ``key % v`` the last token. `shuffle` permutes the last tokens of all n-grams
    among each other. Each context and each last token occurs as often as before, but they are now independent: the true
    matrix has rank 1, and its W-error beyond one dimension is sampling noise. (Shuffling all tokens of the text instead
    would change the contexts, and fewer would occur twice.)
    """
    if len(tokens) < n:
        raise UserError(
            f"language.contexts: a context of {n - 1} tokens and the next one need {n}, but the text has "
            f"{len(tokens)}: shorten the context or use more text"
        )
    last = tokens[n - 1 :] if shuffle is None else shuffle.permutation(tokens[n - 1 :])
    return _count(_numbering(tokens, n, v, block, last), len(tokens) - n + 1, block)


def count_contexts(keys: np.ndarray, v: int) -> int:
    """Return the number of distinct contexts among sorted keys of n-grams."""
    return len(np.unique(keys // np.uint64(v)))


def conditional_rows(keys: np.ndarray, counts: np.ndarray, v: int, entries: int = ENTRIES) -> Iterator[csr_array]:
    """Yield the n-gram matrix W, (contexts, v), in blocks of whole rows with about `entries` entries each.

    A row is the distribution of the token after one context. Every context that occurs is one row, however often it
    occurs (Godey et al. 2024). `keys` and `counts` are from `count_ngrams`.
    """
    _, starts = np.unique(keys // np.uint64(v), return_index=True)
    ends = np.append(starts[1:], len(keys))
    first = 0
    while first < len(starts):
        last = max(first + 1, int(np.searchsorted(ends, starts[first] + entries, side="right")))
        block = slice(starts[first], ends[last - 1])
        borders = np.append(starts[first:last], ends[last - 1]) - starts[first]
        totals = np.add.reduceat(counts[block], borders[:-1])
        shares = counts[block] / np.repeat(totals, np.diff(borders))
        yield csr_array((shares, (keys[block] % np.uint64(v)).astype(np.int32), borders), shape=(last - first, v))
        first = last


def _numbering(tokens: np.ndarray, n: int, v: int, block: int, last: np.ndarray) -> Keys:
    """Return a function from positions start to stop to the keys of the n-grams that begin there and end in `last`.

    If v^n exceeds 64 bits, the (n - 1)-grams that occur are numbered first; there are at most as many as tokens.
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
    powers = np.uint64(v) ** np.arange(n - 1, -1, -1, dtype=np.uint64)
    return sliding_window_view(tokens, n).astype(np.uint64) @ powers


def _count(keys: Keys, size: int, block: int) -> tuple[np.ndarray, np.ndarray]:
    known, counts = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    for start in range(0, size, block):
        new, times = np.unique(keys(start, min(start + block, size)), return_counts=True)
        known, places = np.unique(np.concatenate([known, new]), return_inverse=True)
        counts = np.bincount(places, np.concatenate([counts, times])).astype(np.int64)
    return known, counts
