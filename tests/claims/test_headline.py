"""The headline: it states an order of ranks only as far as several seeds decide it."""

import numpy as np
import pandas as pd
import pytest

from oversmoothing.claims.headline import finding, groups_of_ranks, order_of_ranks
from oversmoothing.tables.record import record

UNCLEAR = "How much probability leaks does not clearly follow rank"
SEEDS = {  # three seeds of the quick default
    4: (0.351, 0.345, 0.341),
    8: (0.204, 0.196, 0.194),
    16: (0.131, 0.135, 0.128),
    32: (0.118, 0.119, 0.111),
    288: (0.106, 0.110, 0.099),
}


def table(by_rank, metrics=("tto",)):
    """Main table with the values of each rank by seed."""
    return record(
        {"truth": "truth", "measure": metric, "model": f"bn{rank}-s{seed}", "rank": rank, "seed": seed, "value": value}
        | {"low": value, "high": value}
        for metric in metrics
        for rank, values in by_rank.items()
        for seed, value in enumerate(values)
    )


def around(*means, spread=0.001):
    return {
        rank: tuple(mean + spread * np.array([-1, 1, 0.1]))
        for rank, mean in zip((4, 8, 16, 32, 288), means, strict=False)
    }


@pytest.mark.parametrize(
    ("by_rank", "says"),
    [
        (around(0.5, 0.4, 0.3), "The lower the rank, the more probability leaks"),
        (around(0.1, 0.2, 0.3), "The higher the rank, the more probability leaks"),
        (around(0.1, 0.1, 0.1), UNCLEAR),
        (around(0.2, 0.1, 0.2), UNCLEAR),
        ({4: (0.3, 0.1), 8: (0.1, 0.15)}, UNCLEAR),
        (SEEDS, "The lower the rank, the more probability leaks"),
    ],
)
def test_the_headline_states_what_the_seeds_decide_and_no_more(by_rank, says):
    assert order_of_ranks(table(by_rank)) == says
    assert finding(table(by_rank)).startswith(f"{says}: TTO is ")


def test_each_truth_has_its_levels_and_its_order():
    first = table(around(0.5, 0.4, 0.3)).assign(truth="own")
    alike, turned = (table(around(*means)).assign(truth="real") for means in ((0.9, 0.8, 0.7), (0.1, 0.2, 0.3)))
    said = finding(pd.concat([first, alike]))
    assert said.startswith(
        "The lower the rank, the more probability leaks, against each truth: TTO is 0.500 at rank 4, "
    )
    assert said.endswith("0.300 at rank 16 against own; 0.900 at rank 4, 0.700 at rank 16 against real")
    both = finding(pd.concat([first, turned]))
    assert "Against own: The lower the rank" in both
    assert "Against real: The higher the rank" in both


def test_groups_are_cut_where_each_rank_before_leaks_more_than_each_after():
    more = {(4, 16), (4, 32), (8, 16), (8, 32), (16, 32)}
    assert groups_of_ranks([4, 8, 16, 32], more) == ([[4, 8], [16], [32]], True)
    assert groups_of_ranks([4, 8, 16, 32], more - {(8, 16)}) == ([[4, 8, 16], [32]], True)
    assert groups_of_ranks([4, 8], {(8, 4)}) == ([[8], [4]], False)


def test_one_seed_states_no_order():
    told = "TTO is 0.400 at rank 4, 0.100 at rank 8, in one training of each"
    assert finding(table({4: (0.4,), 8: (0.1,)})) == told


def test_where_all_ranks_leak_alike_an_order_is_stated_in_few_runs():
    draws, ranks, runs = np.random.default_rng(5), (4, 8, 16, 32, 288), 200
    stated = sum(order_of_ranks(table({r: draws.normal(0.1, 0.01, 5) for r in ranks})) != UNCLEAR for _ in range(runs))
    assert stated / runs < 0.05
