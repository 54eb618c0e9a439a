"""What BAT rejects beside a cut of the same size, as a claim."""

import numpy as np
import pytest
from given_runs import given_run

from oversmoothing.claims.comparison import Chance
from oversmoothing.claims.evidence import Run
from oversmoothing.claims.table import NOT_ASKED, claims_table
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge_claim
from studies.bat_on_trial.claims import CLAIMS

REJECTED = {4: (0.3, 0.25), 8: (0.1, 0.08)}  # mass of the nucleus, by BAT and by the cut
(CUT,) = CLAIMS


def made(masses=(), noise=0.002, seeds=(1,), ranks=(4, 8), draw=None):
    masses = REJECTED | dict(masses)
    columns = ("rejected_mass", "top_rejected_mass")
    means = {(rank, seed): dict(zip(columns, masses[rank], strict=True)) for seed in seeds for rank in ranks}
    return given_run("bat_premise", means, noise, {"tbat": 0.05}, draw)


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (made(), HOLDS),
        (made(seeds=(1, 2)), HOLDS),
        (made({4: (0.2, 0.25)}), FAILS),
        (made({8: (0.05, 0.08)}), FAILS),
        (made({8: (0.1, 0.1)}), OPEN),
        (made(noise=0.2), OPEN),
    ],
)
def test_it_can_hold_and_fail_and_stay_open(evidence, verdict):
    assert judge_claim(CUT.test, evidence).verdict == verdict


def test_numbers_at_the_bound_seldom_hold_or_fail():
    runs = (made({4: (0.3, 0.3), 8: (0.1, 0.1)}, 0.02, draw=np.random.default_rng(n + 1)) for n in range(50))
    verdicts = [judge_claim(CUT.test, run).verdict for run in runs]
    assert verdicts.count(HOLDS) <= 4
    assert verdicts.count(FAILS) <= 4


def test_without_the_ranks_nobody_can_tell():
    verdicts = [judge_claim(CUT.test, run) for run in (made(ranks=(4,)), Run({}, [], [], Chance(200, 0, {})))]
    assert [verdict.verdict for verdict in verdicts] == [OPEN, OPEN]
    assert [verdict.note for verdict in verdicts] == ["no model has rank 8", "no model has rank 4"]


def test_the_difference_within_a_model_has_a_margin_between_trainings():
    assert [one.margin for one in CUT.test(made())] == pytest.approx([0.05 * 0.3, 0.05 * 0.1])
    assert [one.freedom for one in CUT.test(made(seeds=(1, 2)))] == [1, 1]
    assert judge_claim(CUT.test, made({4: (0.3, 0.29)})).verdict == OPEN


def test_it_has_a_chapter_of_its_own():
    table = claims_table(CLAIMS, made(), None, NOT_ASKED)
    assert (table.chapter.tolist(), table.published_note.tolist()) == (["docs/bat.md"], [NOT_ASKED])
