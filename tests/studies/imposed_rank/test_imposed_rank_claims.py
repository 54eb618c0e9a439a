"""Claims about heads of constrained rank: what holds, what does not, and what cannot be told."""

import math
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest
from made_evidence import SURE, UNSURE, varied

from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.comparison import Chance, Missing, Value
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge, judge_claim
from oversmoothing.models.logits import logits_schema, window_keys
from oversmoothing.store.parquet import open_writer, vector_array
from studies.imposed_rank import claims

CHANCE = Chance(200, 0, {"losses": 0.001})


def analyses(retrained=(), logits=None):
    facts = [
        {"model": f"ab{rank}-s1", "kind": "retrained", "rank": rank, "role": rank, "training": "bn288-s1"}
        for rank in retrained
    ]
    return Analyses({}, facts, logits or {}, CHANCE)


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
    assert judge(claims.constrained_heads_lose(own)).verdict == lose
    compared = claims.only_low_ranks_cost(own)
    assert judge(compared).verdict == only_low
    assert compared[0].effect == pytest.approx(math.log(0.5 / right[4]), abs=0.01)
    assert compared[0].margin == pytest.approx(0.001 * compared[0].scale)  # of one training: another may differ


@dataclass(frozen=True)
class Made(Analyses):
    """Analyses whose losses are given and not read: by rank of a retrained head, None for the trained one."""

    losses: dict[int | None, float] = field(default_factory=dict)

    def loss(self, member):
        mean, share = self.losses[member.rank], self.chance.run_to_run["losses"]
        return Value((mean,), member.trainings, "losses", (varied(mean, share, member.rank),))


def made(losses, chance=SURE):
    return Made({}, analyses((4, 16, 64)).models, {}, Chance(200, 0, {"losses": chance}), losses)


CASES = {
    "constrained-heads-lose": (
        made({4: 2.1, 16: 1.7, 64: 1.6}),
        made({4: 2.1, 16: 1.6, 64: 1.7}),
        made({4: 2.1, 16: 1.7, 64: 1.6}, UNSURE),
    ),
    "only-low-ranks-cost": (
        made({4: 2.1, 16: 1.7, 64: 1.6, None: 1.6}),
        made({4: 2.1, 16: 2.0, 64: 1.9, None: 1.6}),
        made({4: 2.1, 16: 1.7, 64: 1.6, None: 1.6}, UNSURE),
    ),
}


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_can_hold_and_fail_and_be_left_open(claim):
    assert [judge_claim(claim.test, evidence).verdict for evidence in CASES[claim.id]] == [HOLDS, FAILS, OPEN]


def test_without_retrained_heads_it_says_so():
    with pytest.raises(Missing, match=r"retrained\.ranks"):
        claims.only_low_ranks_cost(analyses())
