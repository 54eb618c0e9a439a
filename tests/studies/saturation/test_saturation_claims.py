"""Claims about saturation on hand-made tables: what holds, what does not, and what cannot be told."""

import pandas as pd
import pytest

from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.comparison import Chance, Missing
from oversmoothing.claims.table import MARGINS
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge, judge_claim
from studies.saturation import claims

CHANCE = Chance(200, 0, dict.fromkeys(MARGINS, 0.1))
COLUMNS = ["model", "quantity", "fitted", "parameters", "value", "low", "high", "note"]


def analyses(table):
    return Analyses({"saturation": table}, [], {}, CHANCE)


def law(*models):
    """Analyses of a law: of each model its size, whether the law is fitted to it, and how far it ends above."""
    rows = [(f"m{n}", "above_last", fitted, n, above, above - 1, above + 1, "") for n, fitted, above in models]
    return analyses(pd.DataFrame(rows, columns=COLUMNS))


CASES = {
    "small-models-end-above-the-fit": {
        HOLDS: law((10, False, 8.0), (20, True, 0.0), (30, True, 0.0)),
        FAILS: law((10, False, -8.0), (20, True, 0.0), (30, True, 0.0)),
        OPEN: law((20, False, 8.0), (20, True, 0.0), (30, True, 0.0)),
    },
}


@pytest.mark.parametrize("verdict", [HOLDS, FAILS, OPEN])
@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_can_hold_and_fail_and_be_left_open(claim, verdict):
    judged = judge_claim(claim.test, CASES[claim.id][verdict])
    assert judged.verdict == verdict, judged


def test_what_the_law_foresees_is_held_against_models_smaller_than_all_it_was_fitted_on():
    rows = [
        (None, "E", None, None, 1.0, 0.5, 1.5, ""),
        ("small", "above_last", False, 10, 8.0, 6.0, 9.0, ""),
        ("low rank", "above_last", False, 20, 60.0, 50.0, 70.0, ""),
        ("fitted", "above_last", True, 20, -1.0, -2.0, 1.0, ""),
        ("large", "above_last", True, 30, 1.0, -2.0, 2.0, ""),
    ]
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"fitted": "boolean", "parameters": "Int64"})
    found = claims.small_models_end_above_the_fit(analyses(table))
    assert [(c.name, c.effect) for c in found] == [("last loss above the law (%), small", 8.0)]
    assert judge(found).verdict == HOLDS
    for lacking, note in [
        (table[table.model != "small"], "no model is smaller than those that the law is fitted on"),
        (table.assign(fitted=table.fitted.fillna(False) & False), "the law is fitted on no model"),
        (table.assign(value=None, low=None, high=None, note="too few points"), "too few points"),
    ]:
        with pytest.raises(Missing, match=note):
            claims.small_models_end_above_the_fit(analyses(lacking))
