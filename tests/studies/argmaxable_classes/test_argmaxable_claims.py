"""The claims about unargmaxable bytes: when they hold, when not, when nobody can tell; on printed sets and a run's."""

import pandas as pd
import pytest
from given_runs import family
from made_evidence import FILES, UNSURE, Made

from oversmoothing.claims.comparison import Chance, Missing
from oversmoothing.claims.evidence import Run
from oversmoothing.claims.published import Published
from oversmoothing.claims.verdict import FAILS, HOLDS, NOT_PRINTED, OPEN, judge_claim
from studies.argmaxable_classes.claims import ARGMAXABLE, CLAIMS, UNARGMAXABLE

RAREST, FALL = (claim.test for claim in CLAIMS)
TEN = tuple(map(str, range(30, 40)))  # the rarest bytes of made evidence


def able(at_4, at_8):
    """Return changes after which ranks 4 and 8 can predict so many of the rarest bytes."""
    return {("argmaxable", *TEN, "4"): at_4, ("argmaxable", *TEN, "8"): at_8}


@pytest.mark.parametrize(
    ("test", "evidence", "verdict"),
    [
        (RAREST, Made(able(0, 0)), HOLDS),
        (RAREST, Made(able(0, 1)), FAILS),
        (RAREST, Made(able(0, 0), ranks=["16", "32"]), OPEN),
        (FALL, Made(), HOLDS),
        (FALL, Made({("unargmaxable", "16"): 60.0}), FAILS),
        (FALL, Made(uncertainty=UNSURE), OPEN),
        (FALL, Published(FILES), HOLDS),
    ],
)
def test_each_can_hold_and_fail_and_be_left_open(test, evidence, verdict):
    assert judge_claim(test, evidence).verdict == verdict


def test_the_thesis_prints_no_frequencies_of_bytes():
    verdict = judge_claim(RAREST, Published(FILES), NOT_PRINTED)
    assert (verdict.verdict, verdict.note) == (NOT_PRINTED, "the thesis shows it in a figure and prints no number")


def test_a_run_answers_with_its_files(tmp_path):
    files = {("argmaxability", f"bn4-s{seed}"): tmp_path / f"bn4-s{seed}.parquet" for seed in (1, 2)}
    for seed, path in zip((1, 2), files.values(), strict=True):
        rows = [
            {"condition": condition, "class": b, "argmaxable": condition == "free" and b >= 4 * seed}
            for condition in ("free", "reachable")
            for b in range(256)
        ]
        pd.DataFrame(rows).to_parquet(path)
    run = Run(files, family((4, 1), (4, 2)), ["pure"], Chance(200, 0, {}))
    value = run.value(UNARGMAXABLE, run.family[0])
    assert (value.means, value.size) == ((4, 8), 6**0.5)
    assert run.value(ARGMAXABLE, run.family[0], "3", "4", "8").means == (2, 1)
    table = pd.read_parquet(tmp_path / "bn4-s1.parquet").astype({"argmaxable": object})
    table.loc[0, "argmaxable"] = None
    table.to_parquet(tmp_path / "bn4-s1.parquet")
    with pytest.raises(Missing, match="classes of bn4-s1 are undecided"):
        run.value(UNARGMAXABLE, run.family[0])
