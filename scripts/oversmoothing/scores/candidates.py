"""Selections from rows of a large vocabulary, in NumPy, without sorting whole rows.

A language model's nucleus seldom holds more than a few hundred of its 50,000 tokens, so each function first picks out
candidates, the tokens above a bound, and sorts only these. If the candidates turn out to be too few, the bound is
lowered, at last to 0, which makes every token a candidate. The selections are those of sorting whole rows, to the last
bit: ties go to the lowest ids, and mass is accumulated in float64 in the same order.

`oversmoothing.scores.nucleus` and the decoding `typical` call these functions for rows of more than `LARGE` tokens.
Rows are taken one at a time, which costs nothing beside their length.
"""

from collections.abc import Iterator

import numpy as np

LARGE = 2048  # tokens; up to here, sorting all rows at once is faster

_GROUPS = 1024  # of tokens, whose maxima bound the k-th largest value
_STEPS = (64, 8, 1, 0)  # multiples of the bound below which tokens cannot matter
_SLACK = 1e-9  # of mass, far above what the order of additions changes


def largest(p: np.ndarray, k: int) -> np.ndarray:
    """Mark the k largest values of each row of `p` (n, v), v at least `LARGE`; bool (n, v)."""
    keep = np.empty(p.shape, bool)
    for row, marks, bound in zip(p, keep, _below_the_largest(p, k), strict=True):
        _mark(row, _falling(row, bound), k, marks)
    return keep


def nucleus(p: np.ndarray, mass: float) -> np.ndarray:
    """Mark the largest values of each row of `p` (n, v) that together reach `mass`, or all; bool (n, v)."""
    keep = np.empty(p.shape, bool)
    for row, marks in zip(p, keep, strict=True):
        for bound in _bounds(len(row), mass):
            falling = _falling(row, bound)
            short = int(np.searchsorted(np.cumsum(falling, dtype=np.float64), mass))  # prefixes that do not reach it
            if short < len(falling) or bound == 0:
                break
        _mark(row, falling, min(short + 1, len(falling)), marks)
    return keep


def nearest(p: np.ndarray, distance: np.ndarray, mass: float) -> np.ndarray:
    """Mark the tokens of smallest `distance` in each row of `p`, float64 (n, v), that together reach `mass`, or all."""
    keep = np.zeros(p.shape, bool)
    for row, far, marks in zip(p, distance, keep, strict=True):
        for bound in _bounds(len(row), mass):
            # All that is as near as the farthest token above the bound: a prefix of the order, with its ties.
            within = np.max(far, where=row >= bound, initial=-np.inf)
            (order,) = np.nonzero(far <= within)
            order = order[np.argsort(far[order], kind="stable")]
            cumulative = np.cumsum(row[order])
            if bound == 0 or (order.size and cumulative[-1] >= mass + _SLACK):
                break
        marks[order] = cumulative - row[order] < mass
    return keep


def _bounds(v: int, mass: float) -> Iterator[float]:
    """Yield falling bounds: the tokens below (1 - mass) / v hold less than 1 - mass together, so the rest reach it."""
    for step in _STEPS:
        yield step * (1 - mass) / v


def _below_the_largest(p: np.ndarray, k: int) -> np.ndarray:
    """Return a number for each row, shape (n,), that at least k of its values reach: the k-th largest of the maxima."""
    if k > _GROUPS:
        return np.zeros(len(p), p.dtype)
    whole = p.shape[1] // _GROUPS * _GROUPS
    maxima = np.max(p[:, :whole].reshape(len(p), -1, _GROUPS), axis=1)
    return np.sort(maxima, axis=1)[:, -k]


def _falling(row: np.ndarray, bound: float) -> np.ndarray:
    """Return the values of a row that reach the bound, largest first."""
    return np.sort(row[row >= bound])[::-1]


def _mark(row: np.ndarray, falling: np.ndarray, size: int, marks: np.ndarray) -> None:
    """Mark the `size` largest values of a row, given those that may be among them, largest first."""
    threshold = falling[size - 1]
    np.greater_equal(row, threshold, out=marks)
    if size < len(falling) and falling[size] == threshold:
        (tied,) = np.nonzero(row == threshold)
        surplus = int(np.count_nonzero(marks)) - size
        marks[tied[-surplus:]] = False
