"""What several seeds decide of a contrast: against SciPy, by hand, and in simulations at the bounds."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from oversmoothing.claims.contrast import Contrast, Missing, Outcome, clearly_above_0, decide, less, outranking, within

FOR, AGAINST, OPEN = Outcome.FOR, Outcome.AGAINST, Outcome.OPEN


def by_seed(*values):
    return pd.Series(values, index=range(1, len(values) + 1))


def test_a_one_sided_contrast_has_students_p_and_interval():
    values = (0.1, 0.3, 0.2, 0.25)
    one = Contrast("", values, above=0.05)
    theirs = scipy.stats.ttest_1samp(values, 0.05)
    assert one.p == pytest.approx(theirs.pvalue)
    mean, half = np.mean(values), scipy.stats.t.ppf(0.975, 3) * np.std(values, ddof=1) / 2
    assert one.interval == pytest.approx((mean - half, mean + half))


def test_equivalence_is_the_larger_of_two_one_sided_tests():
    one = Contrast("", (0.01, 0.03, 0.02), above=-0.1, below=0.1)
    sides = [
        scipy.stats.ttest_1samp(one.values, -0.1, alternative="greater").pvalue,
        scipy.stats.ttest_1samp(one.values, 0.1, alternative="less").pvalue,
    ]
    assert one.p == pytest.approx(2 * max(sides))
    assert decide([one]) == [FOR]
    beyond = Contrast("", (0.51, 0.53, 0.52), above=-0.1, below=0.1)
    assert decide([beyond]) == [AGAINST]
    assert decide([Contrast("", (0.01, 0.3, -0.2), above=-0.1, below=0.1)]) == [OPEN]


def test_holm_by_hand():
    p = {0.001: (0.0, 0.0), 0.02: (0.0, 0.0), 0.03: (0.0, 0.0)}
    contrasts = [with_p(value) for value in p]
    assert [round(one.p, 4) for one in contrasts] == list(p)
    assert decide(contrasts) == [FOR, FOR, FOR]  # 0.001 <= 0.05 / 3, 0.02 <= 0.05 / 2, 0.03 <= 0.05
    assert decide([with_p(0.001), with_p(0.03), with_p(0.04)]) == [FOR, OPEN, OPEN]  # 0.03 > 0.05 / 2
    assert decide([with_p(0.001, -1), with_p(0.9)]) == [AGAINST, OPEN]


def with_p(p, sign=1):
    """A contrast of three seeds with this p."""
    t = scipy.stats.t.isf(p / 2, 2)
    return Contrast("", tuple(sign * (t / math.sqrt(3) + np.array([-1.0, 0.0, 1.0]))))


def test_one_seed_decides_nothing_but_what_is_exact():
    assert decide([Contrast("", (0.5,))]) == [OPEN]
    assert decide([Contrast("", (0.0, 0.0), exact=True), Contrast("", (1.0,), exact=True)]) == [FOR, AGAINST]
    assert math.isnan(Contrast("", (0.5,)).p)
    assert Contrast("", (0.5,)).towards == FOR
    assert Contrast("", (0.0,)).towards == OPEN  # equal, as printed numbers may be


def test_seeds_are_paired_by_name_and_what_has_none_stands_beside_all():
    one = less("", by_seed(1.0, 2.0, 3.0), by_seed(0.5, 1.0).rename({1: 3}))
    assert one.values == (1.0, 2.5)
    assert less("", by_seed(1.0, 2.0), pd.Series([0.5], index=[-1])).values == (0.5, 1.5)
    assert less("", by_seed(1.0, 2.0), 0.5).values == (0.5, 1.5)
    assert within("", by_seed(1.0, 2.0), by_seed(2.0, 2.0), 0.1).below == pytest.approx(0.2)
    with pytest.raises(Missing, match="no seed in common"):
        less("", by_seed(1.0, 2.0), by_seed(1.0, 2.0).rename({1: 8, 2: 9}))


@pytest.mark.parametrize(("contrasts", "seeds"), [(1, 3), (8, 5), (40, 3)])
@pytest.mark.parametrize(("above", "below"), [(0.0, math.inf), (-1.0, 1.0)])
def test_at_the_bounds_a_sentence_is_decided_wrongly_in_at_most_one_run_of_twenty(contrasts, seeds, above, below):
    draw, runs, wrong = np.random.default_rng(contrasts + seeds), 300, 0
    for _ in range(runs):
        means = above + draw.normal(0, 1, (contrasts, seeds))
        outcomes = decide([Contrast("", tuple(of), above, below) for of in means])
        wrong += any(outcome != OPEN for outcome in outcomes)
    assert wrong / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def test_an_error_over_texts_is_added_in_quadrature():
    values, error = (0.1, 0.3, 0.2, 0.25), 0.04
    one = Contrast("", values, error=error)
    spread = math.hypot(np.std(values, ddof=1) / 2, error)
    half = scipy.stats.t.ppf(0.975, 3) * spread
    assert one.interval == pytest.approx((np.mean(values) - half, np.mean(values) + half))
    assert one.p == pytest.approx(2 * scipy.stats.t.sf(np.mean(values) / spread, 3))
    assert one.mean == pytest.approx(np.mean(values))
    assert Contrast("", (0.5,), error=error).towards == FOR


def test_a_share_of_pairs_is_mann_whitneys_statistic():
    draw = np.random.default_rng(1)
    a, b = pd.Series(draw.integers(0, 5, 30)), pd.Series(draw.integers(1, 7, 20))
    assert outranking(a, b) == pytest.approx(scipy.stats.mannwhitneyu(a, b).statistic / (30 * 20))
    assert outranking(a, a) == 0.5


def test_a_single_value_is_clearly_above_0_where_it_lies_there():
    assert clearly_above_0(Contrast("", (0.1,)))
    assert not clearly_above_0(Contrast("", (0.1, -0.3, 0.2)))
