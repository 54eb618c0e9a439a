"""Claims about expressivity and optimisation: each can hold, fail and be left open, on five seeds."""

import numpy as np
import pandas as pd
import pytest

from oversmoothing.claims.claim import CONTRADICTED, HOLDS, IN_PART, NOT_TESTED, OPEN
from oversmoothing.claims.claim import judge as judged
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.record import record
from studies.paired_ranks.dispute import DISPUTE, Arms
from studies.paired_ranks.paired import EQUAL_LOSS, FULL, SLOWDOWN

SEEDS = range(1, 6)
NOISE = np.array([-1.0, 0.5, 0.2, 1.1, -0.8])  # over seeds; its mean is 0
COSTS = {
    ("plain", 4): 0.30, ("plain", 16): 0.14, ("backward", 4): 0.20, ("backward", 16): 0.06, ("retrained", 4): 0.12,
    ("retrained", 16): 0.001, ("family", 4): 0.4, ("full_head", 32): -0.01,
    ("matched", 4): 0.25, ("matched", 16): 0.1,
    ("full_head", 4): 0.2, ("own_trunk", 4): 0.27,
}  # fmt: skip
SHARES = {("family", 32): 0.02, ("plain", 4): 0.03, ("plain", 16): 0.05, ("backward", 4): 0.9, ("backward", 16): 0.95}


def arms(costs=(), slowdowns=2.0, leaks=0.0, shares=SHARES, unsure=0.002, without=(), trend=0.0, classes=8192):
    """What a study finds: the costs above, TTO at equal loss off by a share `leaks`, losses that follow no share."""
    rows = []
    for (kind, rank), cost in (COSTS | dict(costs)).items():
        for seed, noise in zip(SEEDS, NOISE, strict=True):
            facts = {"kind": kind, "rank": rank, "model": f"{kind}{rank}-s{seed}", "seed": seed}
            rows.append({**facts, "measure": "loss", "less": FULL, "value": cost + unsure * noise})
            if kind in ("plain", "backward", "family"):
                apart = 0.3 * leaks + unsure * noise  # of 0.3 that the full model has at this loss
                rows.append({**facts, "measure": "tto", "less": EQUAL_LOSS, "value": apart})
                rows.append({**facts, "measure": "tto", "less": FULL, "value": 0.1 + apart})
            if kind == "plain":
                ratio = slowdowns * np.exp(100 * unsure * noise / 10)
                rows.append({**facts, "measure": SLOWDOWN, "value": ratio})
    passed = []
    for i, ((kind, rank), share) in enumerate(shares.items()):
        for seed, noise in zip(SEEDS, NOISE, strict=True):
            for step in (0, 64, 600):
                own = {"kind": kind, "model": f"{kind}{rank}-s{seed}", "rank": rank, "seed": seed, "step": step}
                loss = 2 + 0.1 * (-1) ** i * (1 - abs(trend)) + trend * share
                passed.append({**own, "measure": "gradient_share", "value": share + unsure * noise})
                passed.append({**own, "measure": "loss", "value": loss + 1e-3 * noise})
    by_seed = [row for row in rows if row["kind"] not in without]
    for seed in SEEDS if by_seed else ():
        full = {"kind": "family", "rank": 32, "model": f"w32-s{seed}", "seed": seed}
        by_seed += [{**full, "measure": "loss", "value": 2.0}, {**full, "measure": "tto", "value": 0.2}]
    return Arms(record(by_seed), pd.DataFrame(passed), classes)


MANY = {
    (kind, rank): (rank + 17 * len(kind)) % 31 / 31
    for kind in ("family", "plain", "backward")
    for rank in (4, 8, 16, 24, 32)
}
BY_ID = {claim.id: claim for claim in DISPUTE}
EVIDENCE = {
    "gradient-is-compressed": [arms(), arms(shares=SHARES | {("family", 32): 0.5}), arms(unsure=0.1)],
    "rank-slows-learning": [arms(), arms(slowdowns=0.5), arms(without=["plain"])],
    "backward-rank-costs": [arms(), arms({("backward", 16): -0.1}), arms({("backward", 16): 0.0005})],
    "forward-rank-costs-more": [arms(), arms({("plain", 16): 0.0}), arms(without=["backward"])],
    "matched-rank-costs-more": [arms(), arms({("matched", 16): 0.0}), arms(without=["matched"])],
    "small-start-costs": [arms(), arms({("matched", 16): 0.2}), arms(without=["matched"])],
    "share-does-not-predict": [arms(shares=MANY), arms(shares=MANY, trend=-1.0), arms(shares={("plain", 4): 0.1})],
    "wide-retrained-heads-cost-nothing": [arms(), arms({("retrained", 16): 0.2}), arms({("retrained", 16): 0.02})],
    "most-is-learning": [arms(), arms({("retrained", 4): 0.25}), arms({("retrained", 4): 0.15})],
    "most-sits-in-the-trunk": [arms(), arms({("full_head", 4): 0.1}), arms({("full_head", 4): 0.13})],
    "equal-loss-equal-leak": [arms(), arms(leaks=0.3), arms(leaks=0.1)],
}


@pytest.mark.parametrize("claim", DISPUTE, ids=lambda claim: claim.id)
def test_every_claim_can_hold_fail_and_stay_open(claim):
    holds, fails, undecided = (judged(claim, evidence).verdict for evidence in EVIDENCE[claim.id])
    assert (holds, fails) == (HOLDS, CONTRADICTED)
    assert undecided in (OPEN, IN_PART, NOT_TESTED)


def test_a_leak_below_that_of_the_full_head_is_not_alike_either():
    assert judged(BY_ID["equal-loss-equal-leak"], arms(leaks=-0.3)).verdict == CONTRADICTED


@pytest.mark.parametrize(("classes", "suppressed"), [(256, "88% whatever"), (32, "nothing"), (20, "nothing")])
def test_a_head_that_is_not_far_narrower_than_its_classes_says_nothing_of_the_95_percent(classes, suppressed):
    verdict = judged(BY_ID["gradient-is-compressed"], arms(classes=classes))
    assert verdict.verdict == NOT_TESTED
    assert suppressed in verdict.note
    assert judged(BY_ID["gradient-is-compressed"], arms(classes=None)).verdict == HOLDS


def test_what_is_missing_is_said():
    nothing = arms(without=list(TITLES), shares={("plain", 4): 0.1})
    for verdict in (judged(claim, nothing) for claim in DISPUTE):
        assert verdict.verdict == NOT_TESTED
        assert verdict.note
