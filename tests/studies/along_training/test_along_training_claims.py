"""What Godey et al. say of trainings, on hand-made tables: what holds, what does not, and what cannot be told."""

import pandas as pd
import pytest

from oversmoothing.claims.added import NOTHING
from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.comparison import Chance, Missing
from oversmoothing.claims.table import MARGINS, claims_page, claims_table
from oversmoothing.claims.verdict import FAILS, HOLDS, NOT_PRINTED, OPEN, judge, judge_claim
from oversmoothing.tables.formats import markdown
from studies.along_training import claims

CHANCE = Chance(200, 0, dict.fromkeys(MARGINS, 0.03))
STEPS = (0, 10, 20, 40)
FALLING = {
    "loss": (5, 3, 2.5, 2.4),
    "singular_entropy": (1.0, 0.8, 0.5, 0.5),
    "anisotropy": (0.1, 0.1, 0.2, 0.2),
    "head_input_anisotropy": (0.0, 0.1, 0.1, 0.1),
}
SATURATING = FALLING | {
    "loss": (5, 3, 2.5, 2.6),
    "singular_entropy": (1.0, 0.8, 0.5, 0.9),
    "anisotropy": (0.1, 0.1, 0.2, 0.5),
}


def analyses(series, steps=STEPS, still=0.1):
    """Analyses of trainings, from rank to measures by step; two blocks, the first with the anisotropy `still`."""
    rows = [
        {"model": f"bn{rank}-s1", "rank": rank, "seed": 1, "truth": None, "step": step, "measure": measure}
        | {"layer": layer, "value": value if layer != 1 or still is None else still}
        for rank, measures in series.items()
        for measure, values in measures.items()
        for step, value in zip(STEPS, values, strict=True)
        for layer in ((1, 2) if measure == "anisotropy" else (None,))
        if step in steps
    ]
    tables = {"along_training": pd.DataFrame(rows).astype({"layer": "Int64"})} if rows else {}
    return Analyses(tables, [], {}, CHANCE)


def low(**measures):
    """Analyses of a low rank with these measures; at full rank nothing changes but the loss."""
    flat = {"anisotropy": (0.4,) * 4, "head_input_anisotropy": (0.2,) * 4, "singular_entropy": (0.1,) * 4}
    return analyses({4: {**FALLING, **measures}, 288: {**FALLING, **flat}})


def both(steps=STEPS, **measures):
    """Analyses of two ranks with these measures in both blocks."""
    return analyses({rank: {**FALLING, **measures} for rank in (4, 288)}, steps, still=None)


RISING = {"loss": (5, 3, 2, 2.2), "anisotropy": (0.4, 0.4, 0.4, 0.8), "singular_entropy": (0, 0.3, 0.2, 0.6)}
LEVEL = {"loss": (5, 3, 2, 2.2), "anisotropy": (0.4, 0.4, 0.4, 0.4), "singular_entropy": (0, 0.3, 0.3, 0.3)}
ENDS = {HOLDS: low(**RISING), FAILS: low(**LEVEL), OPEN: low(**RISING | {"loss": (5, 4, 3, 3)})}
CASES = {
    "layers-are-anisotropic": {
        HOLDS: both(anisotropy=(0.4, 0.5, 0.6, 0.7)),
        FAILS: both(anisotropy=(0.4, 0.4, 0.3, 0.2)),
        OPEN: both(anisotropy=(0.4, 0.5, 0.6, 0.7), steps=STEPS[1:]),
    },
    "few-dimensions-end-anisotropic": {
        HOLDS: low(head_input_anisotropy=(0.4, 0.5, 0.6, 0.9)),
        FAILS: low(head_input_anisotropy=(0.8, 0.8, 0.8, 0.5)),
        OPEN: low(head_input_anisotropy=(0.8, 0.8, 0.8, 0.8)),
    },
    "singular-entropy-falls": {
        HOLDS: low(singular_entropy=(0.0, 1.0, 0.7, 0.9)),
        FAILS: low(singular_entropy=(0.0, 1.0, 0.95, 0.99)),
        OPEN: low(singular_entropy=(0.0, 0.6, 0.7, 0.9)),
    },
    "anisotropy-rises-where-it-saturates": ENDS,
    "singular-entropy-jumps-where-it-saturates": ENDS,
}


@pytest.mark.parametrize("verdict", [HOLDS, FAILS, OPEN])
@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_can_hold_and_fail_and_be_left_open(claim, verdict):
    judged = judge_claim(claim.test, CASES[claim.id][verdict])
    assert judged.verdict == verdict, judged


@pytest.mark.parametrize(
    ("test", "series", "verdict"),
    [
        (claims.singular_entropy_falls, {"singular_entropy": (0.0, 1.0, 0.7, 0.9)}, HOLDS),
        (claims.singular_entropy_jumps_where_it_saturates, SATURATING, HOLDS),
        (claims.singular_entropy_jumps_where_it_saturates, {**SATURATING, "singular_entropy": (1, 1, 1, 1)}, FAILS),
        (claims.anisotropy_rises_where_it_saturates, SATURATING, HOLDS),
        (claims.anisotropy_rises_where_it_saturates, {**SATURATING, "anisotropy": (0.3, 0.3, 0.3, 0.2)}, FAILS),
    ],
)
def test_the_lower_rank_decides(test, series, verdict):
    judged = judge(test(analyses({4: {**FALLING, **series}, 288: FALLING})))
    assert judged.verdict == verdict
    assert "rank 4" in judged.weakest.name


def test_nothing_is_said_of_saturated_models_where_no_loss_rises():
    with pytest.raises(Missing, match="no model saturates: no loss ends more than 1% above its lowest"):
        claims.singular_entropy_jumps_where_it_saturates(analyses({4: FALLING, 288: SATURATING}))


@pytest.mark.parametrize("claim", claims.CLAIMS[1:], ids=lambda claim: claim.id)
def test_nothing_is_said_where_there_is_one_rank(claim):
    with pytest.raises(Missing, match="two ranks"):
        claim.test(analyses({4: FALLING}))


def test_layers_are_counted_against_the_untrained_model():
    rises = {**FALLING, "anisotropy": (0.3, 0.4, 0.5, 0.6)}
    (share,) = claims.layers_are_anisotropic(analyses({4: rises, 288: rises}))
    assert (share.effect, share.low, share.high) == (0.5, 0.5, 1.0)  # the first block of each stays as it was
    assert share.name == "share of 4 blocks that end more anisotropic than untrained"
    assert judge([share]).verdict == OPEN


@pytest.mark.parametrize(("value", "verdict"), [(0.5, HOLDS), (0.203, OPEN), (0.1, FAILS)])
def test_anisotropy_of_what_enters_the_head_is_compared_between_trainings(value, verdict):
    ends = {4: value, 8: 9, 288: 0.2}
    series = {rank: {**FALLING, "head_input_anisotropy": (0, 0, 0, end)} for rank, end in ends.items()}
    assert judge(claims.few_dimensions_end_anisotropic(analyses(series))).verdict == verdict


def test_what_an_untrained_model_passes_is_no_evidence():
    untrained = both(steps=(0,))
    assert all(judge_claim(claim.test, untrained).verdict != HOLDS for claim in claims.CLAIMS)
    late = judge_claim(claims.few_dimensions_end_anisotropic, both(steps=STEPS[1:]))
    assert (late.verdict, late.note) == (OPEN, "no snapshot of the untrained rank 4 was kept (`training.snapshots`)")


def test_the_page_says_what_is_missing():
    table = claims_table(claims.CLAIMS, analyses({}), None)
    verdicts = table.set_index("id").loc["layers-are-anisotropic"]
    assert (verdicts.verdict, verdicts.published_verdict) == (OPEN, NOT_PRINTED)
    page = markdown(claims_page(table, "t.", CHANCE.run_to_run, [], NOTHING))
    assert "## Godey et al. (2024)\n" in page
    assert "this run has no table along_training" in page
