"""Numbers of docs/forced.md beside those that pages share."""

import math

from oversmoothing.tables.quantities import Quantity, digits, of_seeds, percent
from pages.kept import NAMES, TRUTHS, added, added_by_parts, benchmark, kept

BOTTLENECKS = (4, 8, 16, 32)
forced, best = kept("default").forced, kept("default").best_head


def _decimals(rank: int) -> int:
    return 3 if rank < 16 else 4


# On the quick default.
parts_by_rank = [
    *(
        (
            rank,
            forced("kl", rank),
            digits(forced("forced", rank), _decimals(rank)),
            forced("rest", rank),
            percent(forced("share", rank).value),
            forced("tto", rank),
            forced("nearest_tto", rank),
        )
        for rank in BOTTLENECKS
    ),
    (
        288,
        forced("kl", 288),
        digits(forced("forced", 288).value, 0),
        forced("rest", 288),
        percent(forced("share", 288).value),
        forced("tto", 288),
        digits(forced("nearest_tto", 288).value, 0),
    ),
]
widest_gap = f"{max(forced.all('gap', BOTTLENECKS)):.0e}"


def free_head_forces(rank: int) -> str:
    """Return what the trained head forces with h free in all dimensions: the rank's part and the head's."""
    return digits(best("rank", rank) + best("head", rank), _decimals(rank))


def head_behind_norm_forces(rank: int) -> str:
    """Return the same with the dimension that the LayerNorm takes."""
    return digits(best("rank", rank) + best("head", rank) + best("norm", rank), _decimals(rank))


def not_the_ranks(rank: int) -> str:
    """Return how much of what the free head forces another head of its rank does not, rounded down."""
    return f"{math.floor(100 * best('head', rank) / (best('rank', rank) + best('head', rank)))} %"


def positions_with_face(rank: int) -> float:
    """Return at how many positions of a hundred the nucleus is a face, so that it can get all probability."""
    return 100 * forced("face", rank)


# Behind a LayerNorm.
def share_behind_norm(rank: int) -> float:
    """Return which share of KL norm and head force, at most."""
    return forced("norm_forced", rank) / forced("norm_kl", rank)


behind_norm_by_rank = [
    (
        rank,
        forced("norm_kl", rank),
        digits(forced("norm_forced", rank), _decimals(rank)),
        percent(share_behind_norm(rank)),
        percent(forced("share", rank).value, 0 if rank < 16 else 1),
    )
    for rank in BOTTLENECKS
]
norm_adds_at_rank_4 = share_behind_norm(4) - forced("share", 4)
norm_multiplies_at_rank_32 = share_behind_norm(32) / forced("share", 32)

# The best head of a rank.
parts_of_best_head = [
    (
        rank,
        best("kl", rank).value,
        *(digits(best(part, rank), 4) for part in ("rank", "head", "norm")),
        best("rest", rank),
        digits(best("rank_fitted", rank).value, 4),
    )
    for rank in BOTTLENECKS
]

# Of what a rank adds.
shares_of_what_is_added = [
    (
        rank,
        NAMES[truth],
        added("added", rank, truth),
        *(percent(added_by_parts(part, rank, truth)) for part in ("best_of_added", "trained_of_added")),
        percent(added("forced_of_added", rank, truth)),
    )
    for rank in (4, 8, 16)
    for truth in TRUTHS
]


# As claims.
def share_of_cost(rank: int) -> float:
    """Return which share of what a rank adds its head forces in the quick default."""
    return forced("forced", rank) / (forced("kl", rank) - forced("kl", 288))


def not_forced_of_cost(rank: int) -> float:
    """Return which share of what a rank adds its head does not force in the quick default."""
    return 1 - share_of_cost(rank)


def share_over_seeds(rank: int) -> Quantity:
    """Return the share of KL to the own truth that a rank forces, over five seeds."""
    return of_seeds(kept("smollm2").forced.all("share", rank, "truth"))


# Large vocabularies.
def _speed(vocabulary: str, rank: str, case: str, decimals: int = 0) -> tuple[str, ...]:
    speeds = benchmark.forced_speed.where(case=case)
    return (
        vocabulary,
        rank,
        f"{digits(speeds('ours'), decimals)} ms",
        f"{speeds('gap'):.0e} nats".replace("e-0", "e-"),
        f"{digits(speeds('l-bfgs-b'), decimals)} ms",
    )


speeds_by_head = [
    _speed("256", "16", "random, 256 tokens, rank 16", 2),
    _speed("256", "32", "random, 256 tokens, rank 32", 2),
    _speed("50,304", "64", "random, 50304 tokens, rank 64"),
    _speed("49,152", "576", "random, 49152 tokens, rank 576"),
    _speed("49,152", "576, SmolLM2-135M", "model, 49152 tokens, rank 576"),
    _speed("262,144", "640, Gemma 3 270M", "model, 262144 tokens, rank 640"),
]
