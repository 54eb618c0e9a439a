"""How often a truth accepts what a small draft proposes: by the tokens that it keeps, and by the rank of its head.

A token x drafted from q is accepted with probability min(1, p(x) / q(x)), hence at a rate of sum_i min(p_i, q_i), which
is 1 less the total variation (Leviathan et al. 2023). A draft that keeps only some tokens is accepted at most as often
as the truth draws one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oversmoothing.commands.one_head.text import RESAMPLES, SEED, Passage
from oversmoothing.numerics.statistics import WindowSums, summarise

TITLE = "accepts a draft, by its size"  # ends the title of the picture
PARTS = 32, 16, 8, 4, 2  # of the vocabulary, kept unless numbers are given


@dataclass(frozen=True)
class Accepted:
    """How often the truth accepts, a mean of probabilities with its 95 % interval over passages, None if there is none.

    `size` is the number of tokens that a draft keeps, or the rank of its head.
    """

    size: int
    acceptance: float
    low: float | None
    high: float | None


def counted(tokens: np.ndarray, held: Sequence[Passage], v: int) -> np.ndarray:
    """Count each of v tokens in a text, int (n,), outside the passages in which acceptance is measured; int (v,)."""
    inside = np.concatenate([passage.tokens for passage in held]) if held else np.zeros(0, np.int64)
    return np.bincount(tokens, minlength=v) - np.bincount(inside, minlength=v)


def order_of(counts: np.ndarray) -> np.ndarray:
    """Tokens from the commonest on, of equal counts by id, without those of count 0; int (k,)."""
    order = np.argsort(-counts, kind="stable")
    return order[: int((counts > 0).sum())]


def by_kept(p: np.ndarray, passage: np.ndarray, order: np.ndarray, kept: Sequence[int]) -> list[Accepted]:
    """Return the truth's mass on the k commonest tokens, which is the most that it accepts of a draft with no others.

    Parameters
    ----------
    p : array, shape (n, v)
        The truth's distributions.
    passage : int array, shape (n,)
        The passage of each.
    order : int array, shape (m,)
        Tokens from the commonest on. Numbers above m are left out, because no count says which token is next, and m
        stands in their place.
    kept : sequence of int
        Numbers k, at least 1.
    """
    sizes = sorted({min(k, len(order)) for k in kept})
    return [accepted(size, p[:, order[:size]].sum(axis=1), passage) for size in sizes]


def accepted(size: int, rates: np.ndarray, passage: np.ndarray) -> Accepted:
    """Return the mean of rates of acceptance (n,)."""
    sums = WindowSums()
    sums.add(passage, np.minimum(rates, 1.0))
    mean = summarise(sums, RESAMPLES, SEED)
    low, high = (None if np.isnan(end) else float(end) for end in (mean.low, mean.high))
    return Accepted(size, float(mean.mean), low, high)


def course(p: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Mean mass of the truth (n, v) on the 1, 2, ... commonest tokens, (m,)."""
    return np.minimum(p.mean(axis=0)[order].cumsum(), 1.0)


def usual(v: int) -> list[int]:
    """Numbers of tokens that are kept unless others are given."""
    return [size for part in PARTS if (size := v // part)]
