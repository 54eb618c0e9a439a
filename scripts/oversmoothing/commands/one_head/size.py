"""What the best heads of some ranks force of a truth on a text, fitted on one half of its passages, held to the other.

The fitted ranks bound the smallest rank that a target needs. A search by doubling and bisection fits more, but few.

And how often the truth accepts a draft: a token x drafted from q with probability min(1, p(x) / q(x)), hence at a rate
of sum_i min(p_i, q_i), which is 1 less the total variation (Leviathan et al. 2023). A draft that keeps only some tokens
is accepted at most as often as the truth draws one of them.
"""

import csv
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from oversmoothing.commands.one_head.text import Passage, over_passages
from oversmoothing.measures.best_head import bytes_needed, fit, forced_by

SHIPPED = Path(__file__).with_name("vocabularies.csv")  # `make docs` writes it, if such a run is kept
FITTED_PER_COLUMN = 2  # positions, at least: with one per column every truth of the fitted half is given exactly


@dataclass(frozen=True)
class Size:
    """What the best head of a rank forces, means in nats."""

    rank: int
    forced: float  # on the half that it was not fitted to, and its 95 % interval over passages
    low: float | None
    high: float | None
    fitted: float  # on the half that it was fitted to
    gap: float  # largest of a position in either


@dataclass(frozen=True)
class Accepted:
    """How often the truth accepts, a mean of probabilities with its 95 % interval over passages."""

    size: int  # the number of tokens that a draft keeps, or the rank of its head
    acceptance: float
    low: float | None
    high: float | None


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
    """What the best heads give, by rank, each fitted once and told on standard error.

    Truths are the rows of `p`, float64 (n, v), and `passage` (n,) says which passage each is of, from 0; heads are
    fitted to the even ones. Nothing is forced from the rank `columns` on, that of the truth's own head, or v - 1. A
    fit may take `memory` bytes.
    """

    def __init__(self, p: np.ndarray, passage: np.ndarray, columns: int, memory: float) -> None:
        self.fitted, self.held, self.passage = p[passage % 2 == 0], p[passage % 2 == 1], passage[passage % 2 == 1]
        self.full = min(columns, p.shape[1] - 1)
        self.memory, self.began = memory, time.monotonic()
        self.by_rank: dict[int, Size] = {self.full: Size(self.full, 0.0, 0.0, 0.0, 0.0, 0.0)}
        self.accepted = {self.full: Accepted(self.full, 1.0, 1.0, 1.0)}  # of the held half, as drafts of the truth
        self.heads: dict[int, np.ndarray] = {}

    def of(self, rank: int) -> Size:
        """Return what the best head of a rank forces."""
        rank = min(rank, self.full)
        if rank in self.by_rank:
            return self.by_rank[rank]
        with tqdm(desc=f"rank {rank}", leave=False, disable=None, bar_format="{desc}: {n_fmt} steps, {elapsed}") as bar:
            best = fit(self.fitted, rank, step=bar.update)
            lower = max((k for k in self.heads if k < rank), default=None)
            if lower is not None and best.forced.mean() > self.by_rank[lower].fitted:  # another minimum: never above it
                best = fit(self.fitted, rank, self.heads[lower], bar.update)
        nearest = forced_by(best.weights, self.held)
        gap = float(max(best.gap.max(), nearest.gap.max()))
        self.heads[rank] = best.weights
        drafted = np.minimum(self.held, np.exp(nearest.log_q)).sum(axis=1)
        self.accepted[rank] = accepted(rank, drafted, self.passage)
        mean = over_passages(nearest.forced, self.passage)
        self.by_rank[rank] = Size(rank, *mean, float(best.forced.mean()), gap)
        after = tqdm.format_interval(time.monotonic() - self.began)
        tqdm.write(f"rank {rank}: forces at most {mean[0]:.3g} nats, {after} so far", file=sys.stderr)
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
        n, v = self.fitted.shape
        largest = max((k for k in range(1, self.full) if not refusal(n, v, k, self.memory)), default=0)
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


def of_nearest_vocabulary(tokens: int, path: Path = SHIPPED) -> list[dict[str, str]]:
    """Return what kept runs say of their vocabulary nearest in size, as a ratio; none without it.

    Rows have ``vocabulary``, ``truth``, ``nats`` and ``rank``, the rank that forces no more, with its interval.
    """
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    nearest = min(rows, key=lambda row: abs(math.log(int(row["vocabulary"]) / tokens)))["vocabulary"]
    return [row for row in rows if row["vocabulary"] == nearest]


def order_of(tokens: np.ndarray, held: Sequence[Passage]) -> np.ndarray:
    """Return the kinds of tokens of a text (n,) from the commonest on, of equal counts by id, int (m,).

    Tokens are counted outside the passages `held`, in which acceptance is measured.
    """
    counts = np.bincount(tokens)
    for passage in held:
        counts -= np.bincount(passage.tokens, minlength=len(counts))
    return np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]


def by_kept(p: np.ndarray, passage: np.ndarray, order: np.ndarray, kept: Sequence[int]) -> list[Accepted]:
    """Return the truth's mass on the k commonest tokens, which is the most that it accepts of a draft with no others.

    The truth's distributions p (n, v) are each of a `passage` (n,). In the place of numbers `kept` above the length of
    `order` stands that length, because no count says which token is next.
    """
    sizes = sorted({min(k, len(order)) for k in kept})
    return [accepted(size, p[:, order[:size]].sum(axis=1), passage) for size in sizes]


def accepted(size: int, rates: np.ndarray, passage: np.ndarray) -> Accepted:
    """Return the mean of rates of acceptance (n,)."""
    return Accepted(size, *over_passages(np.minimum(rates, 1.0), passage))
