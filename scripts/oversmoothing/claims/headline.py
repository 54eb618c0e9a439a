"""Which ranks leak more than which others, and the sentence that this allows: the headline of a run."""

from collections.abc import Sequence
from itertools import chain, combinations, pairwise, product

import pandas as pd

from oversmoothing.claims.contrast import LEAST, Outcome, decide, less
from oversmoothing.claims.measured import error_of_difference
from oversmoothing.tables.published import listed


def finding(table: pd.DataFrame, windows: pd.DataFrame | None = None) -> str:
    """State how TTO goes with rank against each truth, as far as several seeds decide it, and its means at the ends.

    `table` is the main table (`score_tables.score_table`). With one seed no order is stated. With the means by window
    (`window_means.parquet`) a difference is decided over seeds and texts, as verdicts are.
    """
    scores = table[(table.measure == "tto") & table.truth.notna()]
    of_truths = {str(truth): rows for truth, rows in scores.groupby("truth", sort=False)}
    told = "; ".join(
        _levels(rows) + (f" against {truth}" if len(of_truths) > 1 else "") for truth, rows in of_truths.items()
    )
    told = f"TTO is {told}"
    ranked = scores.dropna(subset="rank")
    seeds = ranked.groupby("rank").seed.nunique()
    if len(seeds) < 2 or seeds.min() == 0:  # a model of the user's has no seed
        return told
    if seeds.min() < LEAST:
        return f"{told}, in one training of each"
    orders = {truth: order_of_ranks(rows, _of_truth(windows, truth)) for truth, rows in of_truths.items()}
    if len(set(orders.values())) == 1:
        each = ", against each truth" if len(orders) > 1 else ""
        return f"{orders.popitem()[1]}{each}: {told}"
    return ". ".join([*(f"Against {truth}: {order}" for truth, order in orders.items()), told])


def _levels(scores: pd.DataFrame) -> str:
    """Return the mean TTO against one truth at the lowest and the highest rank, or of each model without one."""
    by_rank = scores.groupby("rank").value.mean()
    if not len(by_rank):  # models from the hub, or of the user
        by_model = scores.groupby("model", sort=False).value.mean().sort_values(ascending=False)
        return ", ".join(f"{mean:.3f} in {model}" for model, mean in by_model.items())
    ends = by_rank.iloc[[0, -1]] if len(by_rank) > 1 else by_rank
    return ", ".join(f"{mean:.3f} at rank {rank}" for rank, mean in ends.items())


def _of_truth(windows: pd.DataFrame | None, truth: str) -> pd.DataFrame | None:
    return None if windows is None else windows[windows.truth == truth]


def order_of_ranks(scores: pd.DataFrame, windows: pd.DataFrame | None = None) -> str:
    """State which ranks leak more against one truth: contrasts of all pairs, paired by seed, by Holm's step-down.

    It states an order of two groups of neighbouring ranks only if each rank of one group leaks more than each of the
    other.
    """
    groups, falls = groups_of_ranks(*_decided(scores, windows))
    this, than = ("lower", "higher") if falls else ("higher", "lower")
    if len(groups) == 1:
        return "How much probability leaks does not clearly follow rank"
    if all(len(group) == 1 for group in groups):
        return f"The {this} the rank, the more probability leaks"
    if all(len(group) == 1 for group in groups[:-1]):
        leaks = f"{_leaking(list(chain(*groups[:-1])))} more than each {than} rank"
    else:
        steps = [f"{_named(more)} more than {_named(less)}" for more, less in pairwise(groups)]
        leaks = ", ".join([f"{_leaking(groups[0])} more than {_named(groups[1])}", *steps[1:]])
    unclear = " and of ".join(_named(group) for group in groups if len(group) > 1)
    return f"{leaks}; the order of {unclear} is not clear"


def groups_of_ranks(ranks: Sequence[int], more: set[tuple[int, int]]) -> tuple[list[list[int]], bool]:
    """Return groups of ranks of which each leaks more than the next, and whether the lower ranks leak more."""
    falling, rising = _groups(ranks, more), _groups(ranks[::-1], more)
    return (rising, False) if len(rising) > len(falling) else (falling, True)


def _decided(scores: pd.DataFrame, windows: pd.DataFrame | None) -> tuple[list[int], set[tuple[int, int]]]:
    """Return the ranks, and the pairs of which the first clearly leaks more."""
    by_seed = scores.pivot_table(index="seed", columns="rank", values="value")
    ranks = [int(rank) for rank in sorted(by_seed)]
    pairs = list(combinations(ranks, 2))
    differences = (less("", by_seed[a], by_seed[b], error=error_of_difference(windows, "tto", a, b)) for a, b in pairs)
    outcomes = decide([*differences])
    turned = {Outcome.FOR: lambda a, b: (a, b), Outcome.AGAINST: lambda a, b: (b, a)}
    return ranks, {turned[of](*pair) for pair, of in zip(pairs, outcomes, strict=True) if of in turned}


def _groups(ranks: Sequence[int], more: set[tuple[int, int]]) -> list[list[int]]:
    """Split ranks wherever each rank before leaks more than each rank after."""
    cuts = [i for i in range(1, len(ranks)) if all(pair in more for pair in product(ranks[:i], ranks[i:]))]
    return [list(ranks[i:j]) for i, j in pairwise([0, *cuts, len(ranks)])]


def _leaking(ranks: Sequence[int]) -> str:
    return f"{_named(ranks).capitalize()} {'leak' if len(ranks) > 1 else 'leaks'}"


def _named(ranks: Sequence[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {listed([str(rank) for rank in sorted(ranks)])}"
