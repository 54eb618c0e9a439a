"""Bounds on the W-error of a language itself, without sampling noise.

A context seen n times gives a row of relative frequencies with sampling variance of order 1 / n. This may be nearly all
of the squared length of the rows, and so of the W-error of a text. It is removed in two steps. The Gram matrix of the
true rows is estimated from pairs of distinct occurrences of a context, which are independent, so that no occurrence is
multiplied by itself. The share that d directions retain is then bounded from both sides: directions found in one half
of the occurrences and evaluated on the other half retain too little, and the directions that best fit the estimate
itself appear to retain too much.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, eigvalsh
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import LinearOperator, eigsh

from studies.language_dimensionality.ngrams import number_contexts
from studies.language_dimensionality.spectrum import EXACT

ENOUGH = 30  # contexts, below which no bound is given
NORMAL = 1.96  # standard errors
ROWS = 1024  # projected at a time


class Bounds(NamedTuple):
    """The W-error of a language for d = 1, 2, ..., k, float64 (k,); NaN with fewer than `ENOUGH` contexts."""

    held_out: np.ndarray  # on one half, of d directions found in the other
    low: np.ndarray  # ends of an interval for that of the best d directions on the language
    high: np.ndarray
    contexts: int  # seen often enough: rows of the matrix


def without_noise(
    keys: np.ndarray, counts: np.ndarray, v: int, largest: int, seen: int, draw: np.random.Generator, exact: int = EXACT
) -> Bounds:
    """Bound the W-error of the distributions that the contexts of a text were sampled from.

    `keys` and `counts` are of `ngrams.count_ngrams`. All v dimensions are bounded, or the `largest` ones of more than
    `exact` tokens. `draw` assigns the occurrences to two random halves of the text; contexts that occur `seen` times,
    at least 2, in each of them have equal weight, the others none.

    The directions are learned from half of the occurrences, so the interval is wide where contexts are rare: it covers
    what the whole text would give, extended by 1.96 standard errors over contexts on both sides. Contexts and the
    tokens after them are treated as independent draws. A passage repeated verbatim in a text cannot be distinguished
    from language.

    References
    ----------
    Principal components evaluated on a second, independent measurement: C. Stringer et al., "High-dimensional geometry
    of population responses in visual cortex", Nature 2019. Products of distinct observations only: W. Hoeffding, "A
    class of statistics with asymptotically normal distribution", Annals of Mathematical Statistics 1948. The sum of the
    d largest eigenvalues is convex, hence biased upwards: K. Fan, PNAS 1949.
    """
    k = v if v <= exact else min(largest, v - 1)
    whole, first, second = _halves(keys, counts, v, seen, draw)
    contexts = whole.shape[0]
    if contexts < ENOUGH:
        unknown = np.full(k, np.nan)
        return Bounds(unknown, unknown, unknown, contexts)
    values, total = _eigenvalues(whole, k, exact)
    held_out, error = _lost(second, _directions(first, k, exact))
    fitted = 1 - np.cumsum(values) / total if total > 0 else np.zeros(k)
    low = np.minimum(fitted, held_out) - NORMAL * error
    return Bounds(_root(held_out), _root(low), _root(held_out + NORMAL * error), contexts)


def _halves(
    keys: np.ndarray, counts: np.ndarray, v: int, seen: int, draw: np.random.Generator
) -> tuple[csr_array, csr_array, csr_array]:
    """Count the tokens after each context that is seen often enough: in total, in one half and in the other."""
    first = draw.binomial(counts, 0.5)
    rows, starts = number_contexts(keys, v)
    in_first = np.add.reduceat(first, starts)
    kept = np.minimum(in_first, np.add.reduceat(counts, starts) - in_first) >= seen
    of_kept = kept[rows]
    place = (np.cumsum(kept) - 1)[rows[of_kept]], (keys[of_kept] % np.uint64(v)).astype(np.int32)
    whole, half = counts[of_kept].astype(np.float64), first[of_kept].astype(np.float64)
    shape = int(kept.sum()), v
    return csr_array((whole, place), shape), csr_array((half, place), shape), csr_array((whole - half, place), shape)


def _pairs(counts: csr_array) -> tuple[csr_array, np.ndarray]:
    """Return A and b such that A^T A - diag(b) is an unbiased estimate of the Gram matrix of the true rows.

    For a row with counts c and n occurrences, the sum over pairs of distinct occurrences is c c^T - diag(c), and there
    are n (n - 1) such pairs.
    """
    n = counts.sum(axis=1)
    weight = 1 / (n * (n - 1))
    return csr_array(diags_array(np.sqrt(weight)) @ counts), weight @ counts


def _gram(counts: csr_array, exact: int) -> np.ndarray | LinearOperator:
    a, b = _pairs(counts)
    v = len(b)
    if v > exact:
        return LinearOperator((v, v), matvec=lambda x: a.T @ (a @ x.ravel()) - b * x.ravel(), dtype=np.float64)
    gram = (a.T @ a).toarray()
    gram[np.diag_indices(v)] -= b
    return gram


def _eigenvalues(counts: csr_array, k: int, exact: int) -> tuple[np.ndarray, float]:
    """Return the k largest eigenvalues of the estimate, largest first, and the sum of all."""
    a, b = _pairs(counts)
    gram, total = _gram(counts, exact), float(a.data @ a.data - b.sum())
    if isinstance(gram, LinearOperator):
        values = eigsh(gram, k, which="LA", v0=np.ones(len(b)), return_eigenvectors=False)
        return np.sort(values)[::-1], total
    return eigvalsh(gram, overwrite_a=True, check_finite=False)[::-1], total


def _directions(counts: csr_array, k: int, exact: int) -> np.ndarray:
    """Return the first k eigenvectors of the estimate as columns, (v, k); the bound holds for any orthogonal ones."""
    gram = _gram(counts, exact)
    if isinstance(gram, LinearOperator):
        values, vectors = eigsh(gram, k, which="LA", v0=np.ones(gram.shape[0]))
        return np.ascontiguousarray(vectors[:, np.argsort(-values)])  # otherwise each block of rows would copy them
    vectors = eigh(gram.astype(np.float32), overwrite_a=True, check_finite=False)[1]
    return np.ascontiguousarray(vectors[:, ::-1], np.float64)


def _lost(counts: csr_array, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of the squared length of the true rows outside the first d directions, for each d, (k,).

    With it comes its standard error over contexts, that of a ratio of sums.
    """
    a, _ = _pairs(counts)
    n = counts.sum(axis=1)
    same = csr_array(diags_array(1 / (n * (n - 1))) @ counts)  # products of an occurrence with itself
    length = (a.multiply(a) - same).sum(axis=1)
    total = length.sum()
    if total <= 0:
        return np.ones(directions.shape[1]), np.full(directions.shape[1], np.inf)
    sums, squares, products = np.zeros((3, directions.shape[1]))
    squared = directions**2
    for start in range(0, len(n), ROWS):
        block = slice(start, start + ROWS)
        lost = length[block, np.newaxis] - np.cumsum((a[block] @ directions) ** 2 - same[block] @ squared, axis=1)
        sums += lost.sum(axis=0)
        squares += np.einsum("ij,ij->j", lost, lost)
        products += length[block] @ lost
    share = sums / total
    variance = squares - 2 * share * products + share**2 * (length @ length)
    return share, np.sqrt(np.maximum(variance, 0.0)) / total


def _root(share: np.ndarray) -> np.ndarray:
    return np.sqrt(np.clip(share, 0.0, 1.0))
