"""The claims about effective ranks: when they hold, when not, when nobody can tell; on printed ranks and a run's."""

import pandas as pd
import pytest
from made_evidence import FILES, UNSURE, Made

from oversmoothing.claims.comparison import Chance
from oversmoothing.claims.evidence import Run
from oversmoothing.claims.published import Published
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge_claim
from studies.representation_ranks.claims import CLAIMS, EFFECTIVE_RANK

TESTS = {claim.id: claim.test for claim in CLAIMS}


@pytest.mark.parametrize("claim", TESTS)
@pytest.mark.parametrize(("evidence", "verdict"), [(Made(), HOLDS), (Made(uncertainty=UNSURE), OPEN)])
def test_each_can_hold_and_be_left_open(claim, evidence, verdict):
    assert judge_claim(TESTS[claim], evidence).verdict == verdict


@pytest.mark.parametrize(
    ("claim", "representation", "rank", "value"),
    [
        ("low-ranks-degraded", "pre", "8", 420.0),
        ("low-ranks-degraded", "probabilities", "8", 36.0),
        ("moderate-ranks-keep-probabilities", "pre", "16", 500.0),
        ("moderate-ranks-keep-probabilities", "probabilities", "128", 20.0),
        ("logits-stay-below-full", "logits", "32", 27.0),
    ],
)
def test_each_can_fail_in_every_part(claim, representation, rank, value):
    changed = Made({("effective_rank", representation, rank): value})
    assert judge_claim(TESTS[claim], changed).verdict == FAILS


@pytest.mark.parametrize("claim", TESTS)
def test_the_printed_ranks_bear_them_out(claim):
    assert judge_claim(TESTS[claim], Published(FILES)).verdict == HOLDS


def test_what_rank_alone_decides_is_no_evidence():
    test = TESTS["logits-stay-below-full"]
    assert [comparison.name for comparison in test(Made())] == [
        "logits, rank 512 against rank 32",
        "logits, rank 512 against rank 128",
    ]
    low = judge_claim(test, Made(ranks=["4", "12", "512"]))
    note = "every rank lies below the full model's effective ranks, so that it cannot be otherwise"
    assert (low.verdict, low.note) == (OPEN, note)


def test_a_run_answers_with_its_files(tmp_path):
    values = {("post", "effective_rank"): 3.5, ("post", "numerical_rank"): 4.0, ("pre", "effective_rank"): 9.0}
    rows = [{"representation": name, "measure": measured, "value": value} for (name, measured), value in values.items()]
    pd.DataFrame(rows).to_parquet(tmp_path / "bn4-s1.parquet")
    models = [{"model": "bn4-s1", "kind": "family", "rank": 4, "role": 4, "training": "bn4-s1"}]
    run = Run({("ranks", "bn4-s1"): tmp_path / "bn4-s1.parquet"}, models, ["pure"], Chance(200, 0, {}))
    assert run.value(EFFECTIVE_RANK, run.family[0], "post").means == (3.5,)
