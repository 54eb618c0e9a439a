"""What Godey et al. found, on hand-made tables: what holds, what does not, and what cannot be told."""

import math

import numpy as np
import pyarrow as pa
import pytest

from oversmoothing.claims import godey
from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.claims import CLAIMS, GODEY
from oversmoothing.claims.comparison import Chance, Missing
from oversmoothing.claims.members import members
from oversmoothing.claims.table import MARGINS
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge
from oversmoothing.logits import logits_schema, window_keys
from oversmoothing.store.parquet import open_writer, vector_array

CHANCE = Chance(200, 0, dict.fromkeys(MARGINS, 0.1) | {"losses": 0.02})


def analyses(retrained=(), logits=None):
    facts = [
        {"model": f"ab{rank}-s1", "kind": "retrained", "rank": rank, "role": rank, "training": "bn288-s1"}
        for rank in retrained
    ]
    return Analyses({}, members(facts, "retrained"), logits or {}, CHANCE)


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


def test_every_claim_has_an_id_of_its_own():
    assert len({claim.id for claim in [*CLAIMS, *GODEY]}) == len(CLAIMS) + len(GODEY)
