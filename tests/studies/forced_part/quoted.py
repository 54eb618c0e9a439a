"""What docs/forced.md quotes of its tables, without intervals."""

import math
from itertools import chain

from kept_runs import Kept, percent

PAGE = "docs/forced.md"
RANKS = (4, 8, 16, 32)
BY_HEADS = ("0.522", "0.126", "0.0220", "0.0032")  # at the 400 positions of the norm; of scores, in no table
DEFAULT = Kept("default")


def quoted():
    """Yield page, words with places, and the numbers that fill them."""
    for words, numbers in chain(of_trained_heads(), of_best_heads(), of_claims()):
        yield PAGE, words, numbers
    kl, by_rank, by_head = (DEFAULT.by_rank("best_head", name, 4)[0] for name in ("kl", "rank", "head"))
    free, (share,) = 100 * (by_rank + by_head) / kl, percent(DEFAULT.by_rank("forced", "share", 4))
    yield "README.md", "with all four, the head of rank 4 forces {:.0f} %.", [free]
    words = "With all four dimensions a head of rank 4 forces [{:.0f} %] in place of {:.0f}."
    yield "docs/findings.md", words, [free, share]


def measured(table, *names, ranks=RANKS):
    """Values by rank of each measure."""
    return (DEFAULT.by_rank(table, name, *ranks) for name in names)


def of_trained_heads():
    """Yield those of the table `forced`."""
    shares, faces, gaps, norm_kl, norm = measured("forced", "share", "face", "gap", "norm_kl", "norm_forced")
    for rank, share in zip(RANKS, percent(shares), strict=True):
        yield f"| {rank} | Q | Q | Q | {{:.0f}} % | Q | Q |", [share]
    full = [DEFAULT.cell("forced", measure=name, rank=288) for name in ("forced", "share", "nearest_tto")]
    yield "| 288 | Q | {:g} | Q | {:g} % | Q | {:g} |", full
    yield "Largest gap of a position: {:.0e} nats", [max(gaps)]
    alt = "forces {:.0f} % at rank 4, {:.0f} % at rank 8, {:.1f} % at rank 16, {:.1f} % at rank 32, nothing"
    yield alt, percent(shares)
    yield "at {:.0f}, {:.0f}, {:.0f} and {:.0f} % of the positions at ranks", percent(faces)
    for rank, head, at_most, kl in zip(RANKS, BY_HEADS, norm, norm_kl, strict=True):
        yield f"| {rank} | Q | {head} | Q | {{:.0f}} % |", [100 * at_most / kl]
    yield "and at most {:.3f} in the default", [norm[0] - float(BY_HEADS[0])]


def of_best_heads():
    """Yield those of the table `best_head`."""
    kl, fitted, by_rank, by_head, by_norm = measured("best_head", "kl", "rank_fitted", "rank", "head", "norm")
    for row in zip(RANKS, kl, fitted, strict=True):
        yield "| {} | {:.3f} | Q | Q | Q | Q | {:.4f} |", row
    free = [sum(both) for both in zip(by_rank, by_head, strict=True)]
    yield "ranks 4, 8, 16 and 32 force {:.3f}, {:.3f}, {:.4f} and {:.4f}", free
    fewer = [sum(both) for both in zip(free, by_norm, strict=True)]
    yield "at the same positions, {:.3f}, {:.3f}, {:.4f} and {:.4f}.", fewer
    least = [math.floor(100 * head / both) for head, both in zip(by_head, free, strict=True)]
    yield "at least {} % at rank 4, {} % at rank 8, {} % at rank 16 and {} % at rank 32 is not", least


def of_claims():
    """Yield those of claims: bounds, what the cost of a rank is, and how far another training may be."""
    names = ("head-forces-most-at-4", "little-is-forced-from-16", "forced-is-the-cost-of-the-rank")
    most, little, cost = ([DEFAULT.cell("claims", end, id=name) for end in ("bound", "run_to_run")] for name in names)
    kl, forced, rest, shares = measured("forced", "kl", "forced", "rest", "share", ranks=(*RANKS, 288))
    costs = [part / (whole - kl[-1]) for part, whole in zip(forced[:2], kl[:2], strict=True)]
    yield "| Q | above {:.1f} | ± {:.3f} |", most
    # a margin is the same share of the number at each rank; in the table it is that of the weakest
    yield "below {:.1f} | ± {:.3f}, {:.3f} |", [1 - little[0], little[1], little[1] * shares[3] / shares[2]]
    margins = [cost[1] * costs[0] / costs[1], cost[1]]
    yield "{:.3f} at rank 4, Q at rank 8 | above {:.1f} | ± {:.3f}, {:.3f} |", [costs[0], cost[0], *margins]
    yield "{:.3f} nats at rank 4 and {:.3f} at rank 8, and {:.3f} at full rank", [*rest[:2], rest[-1]]
    left = percent(1 - share for share in costs)
    yield "So {1:.0f} % of what rank 8 adds, and {0:.0f} % of what rank 4 adds", left
