"""What BAT rejects beside a cut of the same size, as a claim."""

import numpy as np
import pandas as pd
import pytest

from oversmoothing.claims.comparison import Chance
from oversmoothing.claims.evidence import BY_POSITION, Run
from oversmoothing.claims.table import NOT_ASKED, claims_table
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge_claim
from studies.bat_premise.claims import CLAIMS

WINDOWS, POSITIONS, TRUTHS = 30, 4, ("one", "other")
REJECTED = {4: (0.3, 0.25), 8: (0.1, 0.08)}  # mass of the nucleus, by BAT and by the cut
COLUMNS = ["rejected_mass", "top_rejected_mass"]
(CUT,) = CLAIMS


class Made(Run):
    """Masses that are given and not read: of each model the means, and the noise of windows."""

    def __init__(self, masses=(), noise=0.002, seeds=(1,), ranks=(4, 8)):
        names = {f"bn{rank}-s{seed}": rank for seed in seeds for rank in ranks}
        facts = [
            {"model": name, "kind": "family", "rank": rank, "role": rank, "training": name}
            for name, rank in names.items()
        ]
        super().__init__({}, facts, [], Chance(200, 0, {}))
        self.masses, self.ranks, self.noise = REJECTED | dict(masses), names, noise
        self.draw, self.exactly = np.random.default_rng(0), True

    def positions(self, what, model, *columns):
        assert what == "bat_premise"
        keys = pd.MultiIndex.from_product([TRUTHS, range(WINDOWS), range(POSITIONS)], names=BY_POSITION)
        table = {}
        for name, mean in zip(COLUMNS, self.masses[self.ranks[model]], strict=True):
            windows = self.draw.normal(0, self.noise, WINDOWS)
            table[name] = mean + np.tile(np.repeat(windows - self.exactly * windows.mean(), POSITIONS), len(TRUTHS))
        return pd.DataFrame(table, keys)[list(columns)]


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (Made(), HOLDS),
        (Made(seeds=(1, 2)), HOLDS),
        (Made({4: (0.2, 0.25)}), FAILS),
        (Made({8: (0.05, 0.08)}), FAILS),
        (Made({8: (0.1, 0.1)}), OPEN),
        (Made(noise=0.2), OPEN),
    ],
)
def test_it_can_hold_and_fail_and_stay_open(evidence, verdict):
    assert judge_claim(CUT.test, evidence).verdict == verdict


def test_numbers_at_the_bound_seldom_hold_or_fail():
    verdicts = []
    for number in range(50):
        run = Made({4: (0.3, 0.3), 8: (0.1, 0.1)}, noise=0.02)
        run.draw, run.exactly = np.random.default_rng(number + 1), False
        verdicts.append(judge_claim(CUT.test, run).verdict)
    assert verdicts.count(HOLDS) <= 4
    assert verdicts.count(FAILS) <= 4


def test_without_the_ranks_nobody_can_tell():
    verdicts = [judge_claim(CUT.test, run) for run in (Made(ranks=(4,)), Run({}, [], [], Chance(200, 0, {})))]
    assert [verdict.verdict for verdict in verdicts] == [OPEN, OPEN]
    assert [verdict.note for verdict in verdicts] == ["no model has rank 8", "no model has rank 4"]


def test_within_one_model_no_margin_is_added():
    assert [comparison.margin for comparison in CUT.test(Made(seeds=(1, 2)))] == [0, 0, 0, 0]


def test_it_has_a_chapter_of_its_own():
    table = claims_table(CLAIMS, Made(), None, NOT_ASKED)
    assert (table.chapter.tolist(), table.published_note.tolist()) == (["docs/bat.md"], [NOT_ASKED])
