"""The claim about cost: when it holds, when it does not, and when nobody can tell; on printed times and a run's."""

import pytest
from given_runs import family
from made_evidence import FILES, Made

from oversmoothing.claims.comparison import Chance
from oversmoothing.claims.evidence import Run
from oversmoothing.claims.published import Published
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge_claim
from oversmoothing.tables.record import record
from studies.metric_cost.claims import CLAIMS

(CLAIM,) = CLAIMS
CASES = {HOLDS: Made(), FAILS: Made({("cost", "tbat", "4"): 1e-3}), OPEN: Made(without=["cost"])}


@pytest.mark.parametrize("verdict", CASES)
def test_it_can_hold_and_fail_and_be_left_open(verdict):
    assert judge_claim(CLAIM.test, CASES[verdict]).verdict == verdict


def test_the_printed_times_bear_it_out():
    assert judge_claim(CLAIM.test, Published(FILES)).verdict == HOLDS


def test_a_run_answers_with_its_table_where_the_published_method_ran(tmp_path):
    rows = [
        {"model": f"bn{rank}-s1", "measure": metric, "value": mean}
        for rank, slow in ((4, 1e-1), (8, None))
        for metric, mean in {"tto": 1e-4, "nsmd": 1e-4, "tv": 1e-5, "kl": 1e-6, "tbat_published_method": slow}.items()
    ]
    record(rows).assign(table="metric_cost").to_csv(tmp_path / "t.csv", index=False)
    models = family((4, 1), (8, 1))
    run = Run({("tables", "metric_cost"): tmp_path / "t.csv"}, models, ["pure"], Chance(200, 0, {}))
    comparisons = CLAIM.test(run)
    assert [comparison.effect for comparison in comparisons] == pytest.approx([3, 3, 4, 5])
    assert all("rank 4" in comparison.name for comparison in comparisons)
    assert judge_claim(CLAIM.test, Run({}, models, ["pure"], Chance(200, 0, {}))).verdict == OPEN
