"""Claims about saturation on hand-made tables: what holds, what does not, and what cannot be told."""

import pytest

from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.comparison import Chance, Missing
from oversmoothing.claims.table import MARGINS
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge, judge_claim
from oversmoothing.tables.record import record
from studies.saturation import claims

CHANCE = Chance(200, 0, dict.fromkeys(MARGINS, 0.1))


def analyses(table):
    return Analyses({"saturation": table}, [], {}, CHANCE)


def law(*models):
    return analyses(record(row for i, model in enumerate(models) for row in ends(f"m{i}", *model)))


def ends(name, parameters, fitted, above, low=1, high=1):
    """Rows of a model: its size, whether the law is fitted to it, and how far it ends above."""
    values = {"fitted": fitted, "parameters": parameters}
    rows = [{"model": name, "measure": measure, "value": value} for measure, value in values.items()]
    return [*rows, {"model": name, "measure": "above_last", "value": above, "low": above - low, "high": above + high}]


@pytest.mark.parametrize(
    ("smaller", "verdict"), [((10, False, 8.0), HOLDS), ((10, False, -8.0), FAILS), ((20, False, 8.0), OPEN)]
)
def test_the_claim_can_hold_and_fail_and_be_left_open(smaller, verdict):
    (claim,) = claims.CLAIMS
    judged = judge_claim(claim.test, law(smaller, (20, True, 0.0), (30, True, 0.0)))
    assert judged.verdict == verdict, judged


def test_what_the_law_foresees_is_held_against_models_smaller_than_all_it_was_fitted_on():
    rows = [
        {"measure": "E", "value": 1.0, "low": 0.5, "high": 1.5},
        *ends("small", 10, False, 8.0, 2, 1),
        *ends("low rank", 20, False, 60.0, 10, 10),
        *ends("fitted", 20, True, -1.0, 1, 2),
        *ends("large", 30, True, 1.0, 3, 1),
    ]
    table = record(rows)
    of_ends = table.measure == "above_last"
    compared = claims.small_models_end_above_the_fit(analyses(table))
    assert [(c.name, c.effect) for c in compared] == [("last loss above the law (%), small", 8.0)]
    assert judge(compared).verdict == HOLDS
    for lacking, note in [
        (table[table.model != "small"], "no model is smaller than those that the law is fitted on"),
        (table.assign(value=table.value.mask(table.measure == "fitted", 0)), "the law is fitted on no model"),
        (table.assign(value=table.value.mask(of_ends), note="too few points"), "too few points"),
    ]:
        with pytest.raises(Missing, match=note):
            claims.small_models_end_above_the_fit(analyses(lacking))
