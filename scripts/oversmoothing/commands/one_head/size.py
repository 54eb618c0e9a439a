"""What the best heads of some ranks force of a truth on a text, fitted on one half of its passages, held to the other.

The fitted ranks bound the smallest rank that a target needs. A search by doubling and bisection fits more, but few.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from oversmoothing.commands.one_head.draft import Accepted, accepted
from oversmoothing.commands.one_head.text import RESAMPLES, SEED
from oversmoothing.forced.best_head import TOLERANCE, best_head, bytes_needed
from oversmoothing.forced.projection import project
from oversmoothing.numerics.statistics import WindowSums, summarise

FITTED_PER_COLUMN = 2  # positions, at least: with one per column every truth of the fitted half is given exactly


@dataclass(frozen=True)
class Size:
    """What the best head of a rank forces, means in nats."""

    rank: int
    forced: float  # on the half that it was not fitted to, and its 95 % interval over passages, NaN with fewer than two
    low: float
    high: float
    fitted: float  # on the half that it was fitted to
    gap: float  # largest proved error of a position in either


def refusal(n: int, v: int, rank: int, memory: float) -> str | None:
    """Return why a head (v, rank) cannot be fitted to n positions in so many bytes, or None."""
    if n < FITTED_PER_COLUMN * rank:
        return f"{rank} columns need at least {FITTED_PER_COLUMN * rank} positions to be fitted to, and there are {n}"
    if (needed := bytes_needed(n, v, rank)) > memory:
        return (
            f"{rank} columns over {v:,} tokens and {n} positions need {needed / 2**30:.1f} GiB, and --memory is "
            f"{memory / 2**30:.3g}"
        )
    return None


class Sizes:
    """What the best heads give, by rank, each fitted once.

    Truths are the rows of `p`, float64 (n, v), and `passage` (n,) says which passage each is of, from 0; heads are
    fitted to the even ones. Nothing is forced from the rank `columns` on, that of the truth's own head, or v - 1. A
    fit may take `memory` bytes; `progress` is given a rank before it is fitted and returns what is called at each
    step; `ended` is given each result.
    """

    def __init__(
        self,
        p: np.ndarray,
        passage: np.ndarray,
        columns: int,
        memory: float,
        progress: Callable[[int], Callable[[], object]] = lambda rank: lambda: None,
        ended: Callable[[Size], object] = lambda size: None,
    ) -> None:
        fitted = passage % 2 == 0
        self.fitted, self.held, self.passage = p[fitted], p[~fitted], passage[~fitted]
        self.full = min(columns, p.shape[1] - 1)
        self.memory, self.progress, self.ended = memory, progress, ended
        self.by_rank: dict[int, Size] = {self.full: Size(self.full, 0.0, 0.0, 0.0, 0.0, 0.0)}
        of_all = Accepted(self.full, 1.0, 1.0, 1.0)  # of the held half, as drafts of the truth
        self.accepted: dict[int, Accepted] = {self.full: of_all}
        self.heads: dict[int, np.ndarray] = {}

    def refusal(self, rank: int) -> str | None:
        """Return why a rank cannot be fitted, or None."""
        n, v = self.fitted.shape
        return None if rank >= self.full else refusal(n, v, rank, self.memory)

    def of(self, rank: int) -> Size:
        """Return what the best head of a rank forces."""
        rank = min(rank, self.full)
        if rank in self.by_rank:
            return self.by_rank[rank]
        step = self.progress(rank)
        best = best_head(self.fitted, rank, step=step)
        lower = max((k for k in self.heads if k < rank), default=None)
        if lower is not None and best.forced.mean() > self.by_rank[lower].fitted:  # another minimum: never above it
            best = best_head(self.fitted, rank, self.heads[lower], step=step)
        nearest = project(best.weights, self.held, tolerance=TOLERANCE)
        sums = WindowSums()
        sums.add(self.passage, nearest.forced)
        mean = summarise(sums, RESAMPLES, SEED)
        gap = float(max(best.gap.max(), nearest.gap.max()))
        self.heads[rank] = best.weights
        drafted = np.minimum(self.held, np.exp(nearest.log_q)).sum(axis=1)
        self.accepted[rank] = accepted(rank, drafted, self.passage)
        self.by_rank[rank] = Size(rank, float(mean.mean), mean.low, mean.high, float(best.forced.mean()), gap)
        self.ended(self.by_rank[rank])
        return self.by_rank[rank]

    def bracket(self, nats: float) -> tuple[int, int]:
        """Return the largest fitted rank below all that force at most so much, or 0, and the smallest of these.

        Held out, as in `Size.forced`. No rank is fitted for it.
        """
        high = min(k for k, size in self.by_rank.items() if size.forced <= nats)
        return max((k for k in self.by_rank if k < high), default=0), high

    def smallest(self, nats: float) -> int | None:
        """Return the smallest rank that forces at most so much on the held half; None if larger ones must be fitted.

        It is the smallest if what is forced falls with the rank, as it does on the fitted half.
        """
        largest = max((k for k in range(1, self.full) if not self.refusal(k)), default=0)
        low, high = self.bracket(nats)
        while high == self.full and low < min(largest, self.full - 1):  # doubling
            middle = min(max(1, 2 * low), largest)
            high, low = (middle, low) if self.of(middle).forced <= nats else (high, middle)
        if high == self.full and low < self.full - 1:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            high, low = (middle, low) if self.of(middle).forced <= nats else (high, middle)
        return high
