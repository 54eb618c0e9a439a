"""Claims about saturation on hand-made tables: what holds, what does not, and what cannot be told."""

import pandas as pd
import pytest

from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.comparison import Chance, Missing
from oversmoothing.claims.table import MARGINS
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge, judge_claim
from studies.saturation import claims

CHANCE = Chance(200, 0, dict.fromkeys(MARGINS, 0.1))
STEPS = (0, 10, 20, 40)
FALLING = {"loss": (5, 3, 2.5, 2.4), "singular_entropy": (1.0, 0.8, 0.5, 0.5), "anisotropy": (0.1, 0.1, 0.2, 0.2)}
SATURATING = {
    "loss": (5, 3, 2.5, 2.6),
    "singular_entropy": (1.0, 0.8, 0.5, 0.9),
    "anisotropy": (0.1, 0.1, 0.2, 0.5),
}
COLUMNS = ["model", "quantity", "fitted", "parameters", "value", "low", "high", "note"]


def analyses(series=None, **tables):
    """Analyses of trainings, from rank to measures by step, and of tables; two blocks, the first always at 0.1."""
    rows = [
        {"model": f"bn{rank}-s1", "rank": rank, "seed": 1, "truth": None, "step": step, "measure": measure}
        | {"layer": layer, "value": 0.1 if layer == 1 else value}
        for rank, measures in (series or {}).items()
        for measure, values in measures.items()
        for step, value in zip(STEPS, values, strict=True)
        for layer in ((1, 2) if measure == "anisotropy" else (None,))
    ]
    if rows:
        tables["along_training"] = pd.DataFrame(rows).astype({"layer": "Int64"})
    return Analyses(tables, [], {}, CHANCE)


def law(*models):
    """Analyses of a law: of each model its size, whether the law is fitted to it, and how far it ends above."""
    rows = [(f"m{n}", "above_last", fitted, n, above, above - 1, above + 1, "") for n, fitted, above in models]
    return analyses(saturation=pd.DataFrame(rows, columns=COLUMNS))


RISING = {"loss": (5, 3, 2, 2.2), "anisotropy": (0.4, 0.4, 0.4, 0.8), "singular_entropy": (0, 0.3, 0.2, 0.6)}
LEVEL = {"loss": (5, 3, 2, 2.2), "anisotropy": (0.4, 0.4, 0.4, 0.4), "singular_entropy": (0, 0.3, 0.3, 0.3)}
ENDS = {
    HOLDS: analyses({4: RISING, 288: FALLING}),
    FAILS: analyses({4: LEVEL, 288: FALLING}),
    OPEN: analyses({4: RISING | {"loss": (5, 4, 3, 3)}, 288: FALLING}),
}
CASES = {
    "small-models-end-above-the-fit": {
        HOLDS: law((10, False, 8.0), (20, True, 0.0), (30, True, 0.0)),
        FAILS: law((10, False, -8.0), (20, True, 0.0), (30, True, 0.0)),
        OPEN: law((20, False, 8.0), (20, True, 0.0), (30, True, 0.0)),
    },
    "anisotropy-rises-at-saturation": ENDS,
    "singular-entropy-jumps-at-saturation": ENDS,
}


@pytest.mark.parametrize("verdict", [HOLDS, FAILS, OPEN])
@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_can_hold_and_fail_and_be_left_open(claim, verdict):
    judged = judge_claim(claim.test, CASES[claim.id][verdict])
    assert judged.verdict == verdict, judged


@pytest.mark.parametrize(
    ("test", "series", "verdict"),
    [
        (claims.singular_entropy_jumps_at_saturation, SATURATING, HOLDS),
        (claims.singular_entropy_jumps_at_saturation, {**SATURATING, "singular_entropy": (1, 1, 1, 1)}, FAILS),
        (claims.anisotropy_rises_at_saturation, SATURATING, HOLDS),
        (claims.anisotropy_rises_at_saturation, {**SATURATING, "anisotropy": (0.3, 0.3, 0.3, 0.2)}, FAILS),
    ],
)
def test_what_small_models_do_where_a_loss_rises(test, series, verdict):
    judged = judge(test(analyses({4: series, 288: FALLING})))
    assert judged.verdict == verdict
    assert "bn4-s1" in judged.weakest.name


def test_nothing_is_said_of_saturation_where_no_loss_rises():
    with pytest.raises(Missing, match="no model saturates: no loss ends more than 1% above its lowest"):
        claims.singular_entropy_jumps_at_saturation(analyses({4: FALLING, 288: SATURATING}))


def test_what_the_law_foresees_is_held_against_models_smaller_than_all_it_was_fitted_on():
    rows = [
        (None, "E", None, None, 1.0, 0.5, 1.5, ""),
        ("small", "above_last", False, 10, 8.0, 6.0, 9.0, ""),
        ("low rank", "above_last", False, 20, 60.0, 50.0, 70.0, ""),
        ("fitted", "above_last", True, 20, -1.0, -2.0, 1.0, ""),
        ("large", "above_last", True, 30, 1.0, -2.0, 2.0, ""),
    ]
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"fitted": "boolean", "parameters": "Int64"})
    found = claims.small_models_end_above_the_fit(analyses(saturation=table))
    assert [(c.name, c.effect) for c in found] == [("last loss above the law (%), small", 8.0)]
    assert judge(found).verdict == HOLDS
    for lacking, note in [
        (table[table.model != "small"], "no model is smaller than those that the law is fitted on"),
        (table.assign(fitted=table.fitted.fillna(False) & False), "the law is fitted on no model"),
        (table.assign(value=None, low=None, high=None, note="too few points"), "too few points"),
    ]:
        with pytest.raises(Missing, match=note):
            claims.small_models_end_above_the_fit(analyses(saturation=lacking))
