"""For every claim there is evidence under which it holds, under which it does not, and under which nobody can tell."""

from typing import Any

import pytest
from made_evidence import RANKS, UNSURE, Made

from oversmoothing.claims.claims import CLAIMS
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge_claim

DECODINGS = ("greedy", "top-k", "top-p", "temperature")


def scores(metric, ranks, mean, decoding="pure"):
    return {(metric, decoding, rank): mean for rank in ranks}


def all_scores(ranks, mean, decoding="pure", metrics=("tto", "nsmd", "tv", "kl")):
    return {key: mean for metric in metrics for key in scores(metric, ranks, mean, decoding)}


AS_PRINTED = Made()
BLURRED = Made(uncertainty=UNSURE)
CASES: dict[str, tuple[Any, Any, Any]] = {
    # claim: evidence under which it holds, under which it does not, and under which nobody can tell
    "truths-beat-the-family": (AS_PRINTED, Made({("losses", "EvaByte"): 0.9}), BLURRED),
    "loss-and-accuracy-agree": (AS_PRINTED, Made({("accuracies", "8"): 0.56}), BLURRED),
    "little-gained-from-16": (AS_PRINTED, Made({("losses", "12"): 0.94}), BLURRED),
    "falls-up-to-32": (AS_PRINTED, Made(scores("tv", ["16"], 0.25)), BLURRED),
    "no-change-from-32-to-128": (AS_PRINTED, Made(scores("kl", ["128"], 0.3)), BLURRED),
    "metrics-differ-on-32-and-128": (AS_PRINTED, Made(scores("kl", ["128"], 0.2)), BLURRED),
    "slight-rise-at-512": (AS_PRINTED, Made(scores("tto", ["512"], 0.08)), BLURRED),
    "loss-correlates": (
        AS_PRINTED,
        Made({("losses", rank): 1.0 + i for i, rank in enumerate(RANKS)}),
        Made({("losses", rank): 5 - i / 5 for i, rank in enumerate(RANKS)}),
    ),
    "tbat-falls": (AS_PRINTED, Made(scores("tbat", ["32"], 0.02)), BLURRED),
    "tbat-zero-at-full-rank": (AS_PRINTED, Made(scores("tbat", ["512"], 0.001)), Made(ranks=RANKS[:-1])),
    "greedy-lowest-under-tto-nsmd": (AS_PRINTED, Made(scores("tto", ["16"], 0.02, "top-p")), BLURRED),
    "temperature-lowest-under-tv": (AS_PRINTED, Made(scores("tv", ["16"], 0.1, "top-k")), BLURRED),
    "order-under-kl": (AS_PRINTED, Made(scores("kl", ["4"], 9.0, "top-k")), BLURRED),
    "all-decodings-reduce": (AS_PRINTED, Made(scores("nsmd", ["32"], 0.1, "temperature")), BLURRED),
    "no-decoding-lifts": (
        Made({k: v for d in DECODINGS for i, r in enumerate(RANKS) for k, v in all_scores([r], 1 - i / 10, d).items()}),
        AS_PRINTED,
        BLURRED,
    ),
    "only-nucleus-improves-tv": (Made(scores("tv", ["4"], 0.46, "greedy")), AS_PRINTED, BLURRED),
    "svd-monotone": (AS_PRINTED, Made({("kl", "pure", "SVD rank 16"): 3.0}), BLURRED),
    "svd-worse-than-learned": (AS_PRINTED, Made({("tto", "pure", "SVD rank 4"): 0.3}), BLURRED),
    "all-smoother-than-the-truth": (AS_PRINTED, Made(scores("entropy_difference", ["128"], 0.1)), BLURRED),
    "falls-in-entropy-too": (AS_PRINTED, Made(scores("entropy_difference", ["16"], -0.6)), BLURRED),
}


@pytest.mark.parametrize("verdict", [HOLDS, FAILS, OPEN])
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_can_hold_and_fail_and_be_left_open(claim, verdict):
    evidence = CASES[claim.id][[HOLDS, FAILS, OPEN].index(verdict)]
    judged = judge_claim(claim.test, evidence)
    assert judged.verdict == verdict, judged


def test_no_case_is_of_a_claim_that_is_gone():
    assert set(CASES) == {claim.id for claim in CLAIMS}


@pytest.mark.parametrize(
    ("claim", "evidence", "verdict"),
    [
        # every part of a statement is tested
        ("truths-beat-the-family", Made({("accuracies", "NanoGPT 300M"): 0.6}), FAILS),
        ("truths-beat-the-family", Made({("losses", "windows", "EvaByte"): 0.9}, without=["loss of EvaByte"]), FAILS),
        ("no-change-from-32-to-128", Made(all_scores(["128"], 0.05)), FAILS),
        ("metrics-differ-on-32-and-128", Made(scores("tto", ["128"], 0.1)), FAILS),
        ("slight-rise-at-512", Made(all_scores(["512"], 2.0)), FAILS),
        ("slight-rise-at-512", Made(ranks=["4", "8", "16", "512"]), OPEN),
        ("no-decoding-lifts", Made(scores("nsmd", RANKS, 0.0, "greedy")), FAILS),
        (
            "only-nucleus-improves-tv",
            Made(scores("tv", ["4"], 0.46, "greedy") | scores("tv", ["16"], 0.16, "top-p")),
            FAILS,
        ),
        (
            "only-nucleus-improves-tv",
            Made(scores("tv", ["4"], 0.46, "greedy") | scores("tv", ["8"], 0.22, "top-p")),
            FAILS,
        ),
    ],
)
def test_every_part_of_a_statement_counts(claim, evidence, verdict):
    assert judge_claim(next(known.test for known in CLAIMS if known.id == claim), evidence).verdict == verdict
