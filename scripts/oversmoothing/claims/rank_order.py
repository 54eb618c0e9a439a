"""Which ranks leak more than which others, and the sentence that this allows: the headline of the study."""

from collections.abc import Mapping, Sequence
from itertools import chain, combinations, pairwise, product

import pandas as pd

from oversmoothing.claims.comparison import Chance, Value, compare
from oversmoothing.claims.verdict import FAILS, HOLDS, judge
from oversmoothing.store.layout import number
from oversmoothing.tables.page import Cell, Page, Section
from oversmoothing.tables.page import Value as Number
from oversmoothing.tables.published import listed
from oversmoothing.tables.story import legend


def rank_order(values: Mapping[int, Value], chance: Chance) -> pd.DataFrame:
    """Compare the TTO of each rank with that of each higher one, a row per pair.

    ``verdict`` is on the statement that the lower rank leaks more; "does not hold" if the higher rank clearly does.
    ``effect`` is the difference, ``low`` and ``high`` its interval over windows, which ``run_to_run`` widens on both
    sides.
    """
    rows = []
    for lower, higher in combinations(sorted(values), 2):
        more = compare(values[lower], values[higher], f"rank {lower} against rank {higher}", chance)
        means = {"lower_mean": values[lower].mean, "higher_mean": values[higher].mean}
        rows.append(
            {"lower_rank": lower, "higher_rank": higher, "verdict": judge([more]).verdict, **means}
            | {"effect": more.effect, "low": more.low, "high": more.high, "run_to_run": more.margin}
        )
    return pd.DataFrame(rows)


def rank_order_page(table: pd.DataFrame, title: str) -> Page:
    """Page with a row per pair of ranks."""
    pairs: list[dict[str, Cell]] = [
        {
            "rank": str(pair["lower_rank"]),
            "against rank": str(pair["higher_rank"]),
            "the lower leaks more": pair["verdict"],
            "difference": Number(pair["effect"], None, pair["low"], pair["high"]),
            "between trainings": f"± {number(pair['run_to_run'])}",
        }
        for pair in table.to_dict("records")
    ]
    return Page(f"{title} {order_of_ranks(table)}.", [Section("", pairs)], legend(__file__, "rank_order"))


def finding(table: pd.DataFrame, order: pd.DataFrame | None) -> str:
    """State how TTO goes with rank, as far as the verdicts of `rank_order` allow, and its means at the ends.

    `table` is the main table (`score_tables.score_table`); without `order` none is stated.
    """
    scores = table[(table.measure == "tto") & table.truth.notna()]
    by_rank = scores.groupby("rank").value.mean()
    if not len(by_rank):  # models from the hub, or of the user
        by_model = scores.groupby("model", sort=False).value.mean().sort_values(ascending=False)
        return f"TTO is {', '.join(f'{mean:.3f} in {model}' for model, mean in by_model.items())}"
    ends = by_rank.iloc[[0, -1]] if len(by_rank) > 1 else by_rank
    means = f"TTO is {', '.join(f'{mean:.3f} at rank {rank}' for rank, mean in ends.items())}"
    return means if order is None else f"{order_of_ranks(order)}: {means}"


def order_of_ranks(order: pd.DataFrame) -> str:
    """State which ranks leak more than which others, as far as the verdicts of `rank_order` allow."""
    groups, falls = groups_of_ranks(order)
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


def groups_of_ranks(order: pd.DataFrame) -> tuple[list[list[int]], bool]:
    """Return groups of ranks of which each leaks more than the next, and whether the lower ranks leak more."""
    ranks = sorted({*order.lower_rank, *order.higher_rank})
    pairs = pd.MultiIndex.from_frame(order[["lower_rank", "higher_rank"]])
    falling = _groups(ranks, set(pairs[order.verdict == HOLDS]))
    rising = _groups(ranks[::-1], {(higher, lower) for lower, higher in pairs[order.verdict == FAILS]})
    return (rising, False) if len(rising) > len(falling) else (falling, True)


def _groups(ranks: Sequence[int], more: set[tuple[int, int]]) -> list[list[int]]:
    """Split ranks wherever each rank before leaks more than each rank after, given the pairs of which that is clear."""
    cuts = [i for i in range(1, len(ranks)) if all(pair in more for pair in product(ranks[:i], ranks[i:]))]
    return [list(ranks[i:j]) for i, j in pairwise([0, *cuts, len(ranks)])]


def _leaking(ranks: Sequence[int]) -> str:
    return f"{_named(ranks).capitalize()} {'leak' if len(ranks) > 1 else 'leaks'}"


def _named(ranks: Sequence[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {listed([str(rank) for rank in sorted(ranks)])}"
