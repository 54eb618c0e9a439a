"""All models oversmooth, above the floor: when it holds, when it does not, and what it takes."""

import numpy as np
import pytest
from made_evidence import FILES

from oversmoothing.claims.comparison import Chance, Missing, Value
from oversmoothing.claims.evidence import Run
from oversmoothing.claims.published import Published
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge_claim
from oversmoothing.numerics.statistics import student_interval
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.store.layout import write_csv
from oversmoothing.tables.record import record
from studies.across_seeds.claims import CLAIMS, OF_EQUALS
from studies.across_seeds.table import of_pairs

(CLAIM,) = CLAIMS
NOISE = np.array([0.004, -0.003, 0.001, -0.002, 0.0])  # over seeds; its mean is 0


class Scored(Run):
    """A run whose scores are given: of each rank, one per seed."""

    levels: dict[int, float]

    def score(self, metric, member, decoding="pure"):
        return Value(tuple(self.levels[member.rank] + NOISE[: len(member.models)]), member.trainings, metric)


@pytest.fixture
def made(tmp_path):
    """Make a run whose full models show about .05 against each other."""

    def made(levels, seeds=5, pairs=True):
        names = [f"bn288-s{seed}" for seed in range(seeds)]
        rows = [
            {"model": a, "truth": b, "measure": f"{metric}_floor", "value": 0.05 + NOISE[i] / 2 + NOISE[j] / 4}
            for metric in AGAINST_TRUTHS
            for i, a in enumerate(names)
            for j, b in enumerate(names)
            if i != j and pairs
        ]
        table = record([*rows, {"kind": "family", "measure": "tto", "value": 0.1}])
        write_csv(table.assign(table="across_seeds"), tmp_path / "across_seeds.csv")
        models = [
            {"model": name, "kind": "family", "rank": rank, "role": rank, "training": name}
            for rank in levels
            for name in (f"bn{rank}-s{seed}" for seed in range(seeds))
        ]
        run = Scored({("tables", "across_seeds"): tmp_path / "across_seeds.csv"}, models, ["pure"], Chance(0, 0, {}))
        run.levels = levels
        return run

    return made


@pytest.mark.parametrize(
    ("levels", "verdict"),
    [
        ({4: 0.3, 288: 0.1}, HOLDS),
        ({4: 0.3, 288: 0.04}, FAILS),
        ({4: 0.3, 288: 0.05}, OPEN),  # as two equal models would be
    ],
)
def test_it_can_hold_and_fail_and_stay_open(made, levels, verdict):
    judged = judge_claim(CLAIM.test, made(levels))
    assert (judged.verdict, judged.comparisons) == (verdict, len(levels) * len(AGAINST_TRUTHS))


def test_the_floor_over_seeds_is_that_of_the_table(made):
    run = made({288: 0.1})
    floor = run.value(OF_EQUALS, run.family[0], "tto")
    square = 0.05 + NOISE[:, None] / 2 + NOISE / 4
    assert student_interval(floor.means) == pytest.approx(of_pairs(square))
    comparison = CLAIM.test(run)[0]
    _, low, _ = student_interval((0.1 + NOISE - floor.means).tolist())
    assert comparison.effect - comparison.margin == pytest.approx(low)


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"levels": {288: 0.1}, "seeds": 2}, "the floor takes 3 seeds, and there are 2 of rank 288"),
        ({"levels": {288: 0.1}, "pairs": False}, "the models of rank 288 were not held against each other"),
        ({"levels": {4: 0.1}}, "no model of the family has full rank"),
    ],
)
def test_what_it_takes_is_said(made, options, note):
    judged = judge_claim(CLAIM.test, made(**options))
    assert judged.verdict == OPEN
    assert note in judged.note


def test_the_thesis_has_no_floor():
    with pytest.raises(Missing, match="trained no model twice"):
        CLAIM.test(Published(FILES))
