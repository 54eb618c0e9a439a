"""What would decide an open claim: by hand, against SciPy's noncentral t and against simulated runs."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from oversmoothing.claims.comparison import Chance, Comparison, Outcome, Value, compare
from oversmoothing.claims.power import MOST_SEEDS, POWER, power, seeds_to_decide, smallest_told
from oversmoothing.claims.table import what_decides
from oversmoothing.claims.verdict import judge


def over_seeds(effect, sd, seeds, bound=0.0, half=0.0):
    """Return a number with this sd over seeds and this half of an interval over windows."""
    margin = scipy.stats.t.isf(0.025, seeds - 1) * sd / math.sqrt(seeds)
    return Comparison("", effect, effect - half, effect + half, bound, margin, freedom=seeds - 1)


def one_seed(effect, margin):
    return Comparison("", effect, effect, effect, margin=margin)


@given(st.floats(0.05, 3), st.integers(2, 60), st.sampled_from([0.025, 0.025 / 4]))
def test_power_is_that_of_the_noncentral_t(ratio, seeds, level):
    direct = scipy.stats.nct.sf(scipy.stats.t.isf(level, seeds - 1), seeds - 1, ratio * math.sqrt(seeds))
    assert power(2 * ratio, 2.0, seeds, level) == pytest.approx(direct, abs=1e-6)


def test_one_sd_takes_ten_seeds_and_half_an_sd_34():
    """As tables of the paired t-test have it (80 %, two-sided 5 %; Cohen 1988: 10 and 34)."""
    for ratio, expected in ((1.0, 10), (0.5, 34)):
        one = over_seeds(ratio, 1.0, 3)
        assert seeds_to_decide([one], [one]) == expected


@pytest.mark.parametrize("half", [0.0, 0.3])
def test_so_many_seeds_decide_four_of_five_simulated_runs(half):
    measured = over_seeds(1.0, 1.0, 5, half=half)
    seeds = seeds_to_decide([measured], [measured])
    draws = np.random.default_rng(0).normal(1.0, 1.0, (4000, int(seeds)))
    told = [over_seeds(draw.mean(), draw.std(ddof=1), len(draw), half=half).outcome == Outcome.HOLDS for draw in draws]
    assert POWER - 0.02 < np.mean(told) < POWER + 0.05


def test_with_one_seed_the_margin_says_how_far_trainings_differ():
    values = [Value((mean,), (name,), "tto") for mean, name in ((1.0, "a"), (0.95, "b"))]
    compared = compare(*values, "", Chance(0, 0, {"tto": 0.1}))
    sd = 0.1 / scipy.stats.norm.isf(0.025)
    assert smallest_told(compared) == pytest.approx(0.1)
    assert seeds_to_decide([compared], [compared]) == seeds_to_decide([over_seeds(0.05, sd, 2)], [compared])


def test_all_must_hold_but_one_below_its_bound_is_enough():
    near, far = over_seeds(0.5, 1.0, 5), over_seeds(1.0, 1.0, 5)
    assert seeds_to_decide([near, far], [near, far]) == 34
    below = over_seeds(-1.0, 1.0, 5)
    alone, shared = (seeds_to_decide([near, below], family) for family in ([below], [below, near, far, far]))
    assert alone == 10
    assert shared > alone  # the level is shared by all that may speak against the claim


def test_what_seeds_do_not_decide():
    text = over_seeds(0.2, 1.0, 5, half=0.3)
    assert seeds_to_decide([text], [text]) == math.inf
    tiny = over_seeds(1e-4, 1.0, 5)
    assert seeds_to_decide([tiny], [tiny]) == math.inf
    no_margin = Comparison("", 0.1, -0.2, 0.4)
    assert seeds_to_decide([no_margin], [no_margin]) is None
    assert smallest_told(no_margin) == pytest.approx(0.3)
    assert smallest_told(Comparison("", math.nan, math.nan, math.nan)) is None


def test_an_open_verdict_says_it_in_words_and_a_decided_one_does_not():
    verdict = judge([over_seeds(1.0, 1.0, 5), over_seeds(5.0, 1.0, 5)])
    assert list(what_decides(vars(verdict))) == [
        "differences from 1.242 on could be told",
        "10 seeds would decide it at this size",
    ]
    assert list(what_decides(vars(judge([over_seeds(5.0, 1.0, 5)])))) == []
    never = judge([one_seed(1e-6, 1.0)])
    assert list(what_decides(vars(never)))[1] == f"not even {MOST_SEEDS:,} seeds would decide it at this size"


def test_a_verdict_that_rests_on_few_positions_says_so():
    def of(positions):
        return list(what_decides(vars(judge([Comparison("", 5.0, 4.0, 6.0, positions=positions)]))))

    assert of(49) == ["rests on 49 positions"]
    assert of(50) == of(None) == []
