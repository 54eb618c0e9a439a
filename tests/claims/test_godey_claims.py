"""What Godey et al. found, on hand-made tables: what holds, what does not, and what cannot be told."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from oversmoothing.claims import godey
from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.claims import CLAIMS, GODEY
from oversmoothing.claims.comparison import Chance, Missing
from oversmoothing.claims.members import members
from oversmoothing.claims.table import MARGINS, claims_page, claims_table
from oversmoothing.claims.verdict import FAILS, HOLDS, NOT_PRINTED, OPEN, judge
from oversmoothing.logits import logits_schema, window_keys
from oversmoothing.page_formats import markdown
from oversmoothing.store.parquet import open_writer, vector_array

CHANCE = Chance(200, 0, dict.fromkeys(MARGINS, 0.1) | {"losses": 0.02})
STEPS = (0, 10, 20, 40)
FALLING = {
    "loss": (5, 3, 2.5, 2.4),
    "singular_entropy": (1.0, 0.8, 0.5, 0.5),
    "anisotropy": (0.1, 0.1, 0.2, 0.2),
    "head_input_anisotropy": (0.0, 0.1, 0.1, 0.1),
}


def along(series):
    """Return a table along training: from rank to measures by step; two layers, the first always at 0.1."""
    rows = []
    for rank, measures in series.items():
        facts = {"model": f"bn{rank}-s1", "rank": rank, "seed": 1, "truth": None}
        for measure, values in measures.items():
            for step, value in zip(STEPS, values, strict=True):
                layers = ((1, 0.1), (2, value)) if measure == "anisotropy" else ((None, value),)
                rows += [
                    {**facts, "step": step, "measure": measure, "layer": layer, "value": own} for layer, own in layers
                ]
    table = pd.DataFrame(rows)
    return table.astype({"layer": "Int64"})


def analyses(series=None, retrained=(), logits=None, **tables):
    if series:
        tables["along_training"] = along(series)
    facts = [
        {"model": f"ab{rank}-s1", "kind": "retrained", "rank": rank, "role": rank, "training": "bn288-s1"}
        for rank in retrained
    ]
    return Analyses(tables, members(facts, "retrained"), logits or {}, CHANCE)


@pytest.mark.parametrize(
    ("test", "series", "verdict"),
    [
        (godey.singular_entropy_falls, {**FALLING, "singular_entropy": (0.0, 1.0, 0.7, 0.9)}, HOLDS),
        (godey.singular_entropy_falls, {**FALLING, "singular_entropy": (0.0, 1.0, 0.95, 0.99)}, FAILS),
        (godey.singular_entropy_falls, {**FALLING, "singular_entropy": (0.0, 0.6, 0.7, 0.9)}, OPEN),
    ],
)
def test_what_small_models_do_along_training(test, series, verdict):
    judged = judge(test(analyses({4: series, 288: FALLING})))
    assert judged.verdict == verdict
    assert "bn4-s1" in judged.weakest.name


def test_nothing_is_said_where_there_is_one_rank_or_no_table():
    with pytest.raises(Missing, match="two ranks"):
        godey.singular_entropy_falls(analyses({4: FALLING}))
    with pytest.raises(Missing, match="no table along_training"):
        godey.singular_entropy_falls(analyses())


def test_layers_are_counted_against_the_untrained_model():
    rises = {"anisotropy": (0.3, 0.4, 0.5, 0.6)}
    found = godey.layers_are_anisotropic(analyses({4: {**FALLING, **rises}, 288: {**FALLING, **rises}}))
    assert [(c.effect, c.low, c.high) for c in found] == [(0.5, 0.5, 1.0)]  # the first block of each stays as it was
    assert found[0].name == "share of 4 blocks that end more anisotropic than untrained"
    assert judge(found).verdict == OPEN


@pytest.mark.parametrize(("low", "verdict"), [(0.5, HOLDS), (0.21, OPEN), (0.1, FAILS)])
def test_anisotropy_of_what_enters_the_head_is_compared_between_trainings(low, verdict):
    series = {
        rank: {**FALLING, "head_input_anisotropy": (0, 0, 0, value)} for rank, value in ((4, low), (8, 9), (288, 0.2))
    }
    assert judge(godey.few_dimensions_end_anisotropic(analyses(series))).verdict == verdict


def write_logits(folder, model, right):
    """Write logits over 20 windows that give the right byte a probability of about `right`."""
    path = folder / f"{model}.parquet"
    draw = np.random.default_rng(0)
    with open_writer(path, logits_schema(256), {}) as writer:
        for window in range(20):
            target = draw.integers(0, 256, 10)
            probabilities = np.full((10, 256), (1 - right) / 255)
            probabilities[np.arange(10), target] = right
            logits = np.log(probabilities) + draw.normal(0, 0.01, (10, 1))
            keys = window_keys(window, target)
            writer.write_batch(
                pa.record_batch([*keys, vector_array(logits.astype(np.float32))], schema=logits_schema(256))
            )
    return path


@pytest.mark.parametrize(
    ("right", "lose", "only_low"),
    [
        ({4: 0.1, 16: 0.3, 64: 0.499}, HOLDS, HOLDS),
        ({4: 0.3, 16: 0.1, 64: 0.499}, FAILS, HOLDS),
        ({4: 0.1, 16: 0.2, 64: 0.3}, HOLDS, FAILS),
        ({4: 0.499, 16: 0.5, 64: 0.5}, OPEN, FAILS),
    ],
)
def test_what_a_constrained_head_costs(tmp_path, right, lose, only_low):
    logits = {f"ab{rank}-s1": write_logits(tmp_path, f"ab{rank}-s1", p) for rank, p in right.items()}
    logits["bn288-s1"] = write_logits(tmp_path, "bn288-s1", 0.5)
    own = analyses(retrained=right, logits=logits)
    assert judge(godey.constrained_heads_lose(own)).verdict == lose
    compared = godey.only_low_ranks_cost(own)
    assert judge(compared).verdict == only_low
    assert compared[0].effect == pytest.approx(math.log(0.5 / right[4]), abs=0.01)
    assert all(comparison.margin == 0 for comparison in compared)  # one training alone


def test_without_retrained_heads_it_says_so():
    with pytest.raises(Missing, match=r"retrained\.ranks"):
        godey.only_low_ranks_cost(analyses())


def test_the_page_says_what_is_missing():
    table = claims_table(GODEY, analyses(), None)
    own = table.set_index("id").loc["layers-are-anisotropic"]
    assert (own.verdict, own.published_verdict) == (OPEN, NOT_PRINTED)
    page = markdown(claims_page(table, "t.", CHANCE.run_to_run, []))
    assert "## Godey et al. (2024)\n" in page
    assert "this run has no table along_training" in page
    assert len({claim.id for claim in [*CLAIMS, *GODEY]}) == len(CLAIMS) + len(GODEY)
