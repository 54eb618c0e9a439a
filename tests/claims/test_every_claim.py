"""For every claim of the thesis there is evidence under which it holds, is contradicted and is left open."""

from itertools import chain

import numpy as np
import pytest
from made_tables import CLAIMING, PRINTED, around, as_run, by_rank, claims_of, measured, of_studies

from oversmoothing.claims.claim import (
    CONTRADICTED,
    DEPENDS,
    HOLDS,
    IN_PART,
    NOT_PRINTED,
    NOT_TESTED,
    ONE_SEED,
    OPEN,
    Claim,
    judge,
    judge_by_truth,
    judge_printed,
)
from oversmoothing.claims.contrast import Contrast, Outcome
from oversmoothing.claims.table import by_claim, claims_page, claims_table, counted, evidence, verdict_cell
from oversmoothing.claims.thesis import MAIN, MASS, OTHERS, falls
from oversmoothing.tables.formats import markdown

RANKS = (4, 8, 12, 16, 32, 128, 512)
NOT_THERE = ["svd-misleads-bat", "svd-more-uniform", *chain(*of_studies("NOT_PRINTED"))]
AGAINST = {  # its own prose, by its own tables
    "no-decoding-lifts": (84, 168, "NSMD, rank 128 greedy less rank 32 pure"),
    "only-nucleus-improves-tv": (1, 20, "TV, greedy less pure, rank 4"),
    "moderate-ranks-leak-as-much": (8, 12, "NSMD, rank 128 less rank 512"),
    "decoding-reduces-marginally": (35, 56, "NSMD, pure less greedy, rank 32"),
}


def score(metric, rank, new, decoding="pure", table="oversmoothing"):
    return table, {"measure": metric, "rank": rank, "decoding": decoding}, new


def pooled(metric, rank, new, decoding):
    return score(metric, rank, new, decoding, "decodings_pooled")


def loss(rank, new, measure="validation_loss"):
    return "losses", {"measure": measure, "rank": rank}, new


BROKEN = {  # what contradicts a claim that the printed means bear out
    "truths-beat-the-family": [("losses", {"measure": "accuracy", "model": "NanoGPT 300M"}, 0.6)],
    "loss-and-accuracy-agree": [loss(8, 0.56, "accuracy")],
    "loss-separates-more": [loss(4, 0.01, "accuracy")],
    "little-gained-from-16": [loss(12, 0.94)],
    "falls-up-to-32": [score("tv", 16, 0.25)],
    "no-change-from-32-to-128": [score("kl", 128, 0.3)],
    "metrics-differ-on-32-and-128": [score("kl", 128, 0.2)],
    "slight-rise-at-512": [score("tto", 512, 0.08)],
    "loss-correlates": [loss(4, 0.1)],
    "tbat-falls": [score("tbat", 32, 0.02, table="tbat")],
    "tbat-zero-at-full-rank": [score("tbat", 512, 0.001, table="tbat")],
    "greedy-lowest-under-tto-nsmd": [pooled("tto", 16, 0.02, "top-p")],
    "temperature-lowest-under-tv": [pooled("tv", 16, 0.1, "top-k")],
    "order-under-kl": [pooled("kl", 4, 9.0, "top-k")],
    "all-decodings-reduce": [pooled("nsmd", 32, 0.2, "temperature")],
    "svd-monotone": [("svd", {"measure": "kl", "rank": 16}, 3.0)],
    "svd-worse-than-learned": [("svd", {"measure": "tto", "rank": 4}, 0.3)],
    "all-smoother-than-the-truth": [score("entropy_difference", 128, 0.1, table="entropy_difference")],
    "falls-in-entropy-too": [score("entropy_difference", 16, -0.6, table="entropy_difference")],
}
MENDED = {  # what bears out a claim that the printed means contradict
    "only-nucleus-improves-tv": [pooled("tv", 4, 0.46, "greedy")],
    "moderate-ranks-leak-as-much": [score(metric, rank, 0.1) for metric in MAIN for rank in (16, 32, 128, 512)],
    "decoding-reduces-marginally": [
        pooled(metric, rank, 1.0 if decoding == "pure" else 0.9, decoding)
        for metric in MASS
        for rank in RANKS
        for decoding in ("pure", *OTHERS)
    ],
    "no-decoding-lifts": [
        pooled(metric, rank, 1 - i / 10, decoding)
        for metric in MASS
        for i, rank in enumerate(RANKS)
        for decoding in OTHERS
    ],
}
for joined, name in ((AGAINST, "AGAINST"), (BROKEN, "BROKEN"), (MENDED, "MENDED")):
    for own in of_studies(name):
        joined |= own
CLAIMS = {
    name: claim
    for name, claim in claims_of("", *CLAIMING).items()
    if name in {*BROKEN, *MENDED, *NOT_THERE} or name in claims_of("")
}


@pytest.mark.parametrize("name", CLAIMS)
def test_what_the_thesis_says_held_against_its_own_tables(name):
    found = judge_printed(CLAIMS[name], PRINTED)
    if name in AGAINST:
        against = sum(outcome == Outcome.AGAINST for outcome in found.outcomes)
        assert (against, len(found.contrasts), found.weakest.name) == AGAINST[name]
    assert found.verdict == (NOT_PRINTED if name in NOT_THERE else CONTRADICTED if name in AGAINST else HOLDS)


def test_every_claim_has_its_cases():
    assert BROKEN.keys() | MENDED.keys() == CLAIMS.keys() - {*NOT_THERE}
    assert len({claim.place for claim in CLAIMS.values()}) > len(CLAIMS) / 4  # they are of all parts of the thesis


@pytest.mark.parametrize("name", BROKEN)
def test_a_claim_that_holds_over_seeds_can_be_contradicted(name):
    assert judge(CLAIMS[name], as_run()).verdict == HOLDS
    assert judge(CLAIMS[name], as_run(*BROKEN[name])).verdict == CONTRADICTED


@pytest.mark.parametrize("name", MENDED)
def test_a_claim_that_is_contradicted_over_seeds_can_hold(name):
    assert judge(CLAIMS[name], as_run()).verdict == CONTRADICTED
    assert judge(CLAIMS[name], as_run(*MENDED[name])).verdict in (HOLDS, IN_PART)


def test_what_a_truncated_head_rejects_alone_is_held_to_above_0():
    def run(value):
        rows = by_rank("excess", {8: value, 288: around(0.2)}, approximation=4)
        rows += by_rank("excess", {8: around(0, 0)}, approximation=8)  # the whole head, beside its truncations
        return measured((8, 288), tbat_approximation=rows)

    assert judge(CLAIMS["svd-misleads-bat"], run(around(0.1))).verdict == HOLDS
    assert judge(CLAIMS["svd-misleads-bat"], run(around(-0.1))).verdict == CONTRADICTED


def test_the_more_a_head_is_truncated_the_more_uniform_are_its_distributions():
    def run(entropies):
        rows = by_rank("entropy_difference", entropies, kind="svd", decoding="pure")
        return measured((288,), svd=rows)

    claim = CLAIMS["svd-more-uniform"]
    assert judge(claim, run({4: around(-2.0), 8: around(-1.0)})).verdict == HOLDS
    assert judge(claim, run({4: around(-1.0), 8: around(-2.0)})).verdict == CONTRADICTED


@pytest.mark.parametrize(
    "name", [name for name in CLAIMS if name not in (*NOT_THERE, "tbat-zero-at-full-rank", "loss-correlates")]
)
def test_seeds_that_scatter_leave_it_open_and_one_decides_nothing(name):
    assert judge(CLAIMS[name], as_run(spread=5.0)).verdict in (OPEN, IN_PART, NOT_TESTED)
    assert judge(CLAIMS[name], as_run(seeds=(1,))).verdict in (ONE_SEED, NOT_TESTED)


def test_the_table_and_its_page_say_what_a_verdict_rests_on():
    run, claims = as_run(seeds=(1,)), list(CLAIMS.values())
    table = claims_table(claims, run, PRINTED)
    assert table.verdict.isin([ONE_SEED, HOLDS, NOT_TESTED]).all()
    falls = table.set_index("id").loc["falls-up-to-32"]
    assert verdict_cell(falls) == "one seed (16 of 16)"
    assert verdict_cell(falls, "published_") == "holds (16 of 16)"
    whole = claims_table(claims, as_run(), PRINTED)
    told = counted(whole).verdict
    held, against, untested = ((told == verdict).sum() for verdict in (HOLDS, CONTRADICTED, NOT_TESTED))
    assert min(held, against, untested) > 0
    assert "tbat-zero-at-full-rank" not in set(counted(whole).id)
    text = markdown(claims_page(whole, "T.", {}, run.family)).replace("\n", " ")
    said = f"{held} hold, {against} are contradicted, {untested} are not tested"
    others = len(whole) - len(told)
    assert f"# T. In this run {said} (without {others} that cannot fail); on " in text
    assert text.count("Not counted, as it cannot fail: ") == others > 1
    assert "equal to 0" in text
    with pytest.raises(ValueError, match="no heading for claims"):
        claims_page(table.assign(chapter="docs/mine.md"), "T.", {}, run.family)


def against(own, real):
    """A run of ranks 4 and 8 with these values of TTO against two truths, and a TBAT that needs none."""
    scored = {"measure": "tto", "decoding": "pure"}
    rows = [
        {"rank": rank, "truth": truth, **scored, "value": around(value, value * rank / 800)}
        for truth, values in (("own", own), ("real", real))
        for rank, value in zip((4, 8), values, strict=True)
    ]
    tbat = [
        {"rank": rank, "truth": None, **scored, "measure": "tbat", "value": around(value)}
        for rank, value in ((4, 0.2), (8, 0.1))
    ]
    return measured((4, 8), oversmoothing=rows, tbat=tbat)


BY_TRUTH = {  # what each truth says of a fall from rank 4 to 8, and what they say together
    (HOLDS, HOLDS): ((0.3, 0.1), (0.5, 0.4), HOLDS),
    (HOLDS, CONTRADICTED): ((0.5, 0.1), (0.4, 0.5), DEPENDS),
    (CONTRADICTED, CONTRADICTED): ((0.1, 0.3), (0.4, 0.5), CONTRADICTED),
    (HOLDS, OPEN): ((0.3, 0.1), (0.5, 0.5), DEPENDS),
    (OPEN, OPEN): ((0.3, 0.3), (0.5, 0.5), OPEN),
}


@pytest.mark.parametrize("each", BY_TRUTH)
def test_a_claim_on_truths_has_a_verdict_by_each_and_one_together(each):
    own, real, together = BY_TRUTH[each]
    run = against(own, real)
    claims = [
        Claim("of-truths", "4.2", "It falls.", "Each.", lambda m: falls(m, ("tto",), m.steps())),
        Claim("of-none", "4.2", "It falls.", "Each.", lambda m: falls(m, ("tbat",), m.steps())),
    ]
    table = claims_table(claims, run, PRINTED)
    rows = table[table.id == "of-truths"]
    assert rows.truth.tolist()[1:] == ["own", "real"]
    assert rows.verdict.tolist() == [together, *each]
    assert rows.contrasts.tolist() == [2, 1, 1]
    assert table[table.id == "of-none"].truth.isna().tolist() == [True]
    assert len(counted(table)) == len(by_claim(table)) == 2
    first, second = (dict(evidence(row)) for row in by_claim(table).to_dict("records"))
    assert first["weakest contrast"].startswith("TTO, rank 4 less rank 8, against ")
    assert first["against each truth"] == ", ".join(
        f"{truth}: {verdict_cell(row)}" for truth, row in zip(("own", "real"), rows.to_dict("records")[1:], strict=True)
    )
    assert "truth" not in " ".join([*second, second["weakest contrast"]])
    assert f"{together}" in markdown(claims_page(table, "t", {}, run.family))


def test_what_is_measured_against_one_truth_alone_is_judged_by_it():
    def of_real(m):
        return [Contrast("TTO", tuple(m.values("oversmoothing", "tto", rank=4, truth="real")))]

    table = claims_table(
        [Claim("of-one", "4.2", "It leaks.", "Rank 4.", of_real)], against((0.3, 0.1), (0.5, 0.4)), PRINTED
    )
    assert table.truth.isna().tolist() == [True]
    assert table.verdict.tolist() == [HOLDS]


def test_at_the_bounds_each_truth_is_decided_wrongly_in_at_most_one_run_of_twenty():
    draw, runs = np.random.default_rng(7), 200
    found = {"own": 0, "real": 0, "both": 0}
    claim = Claim("c", "4.2", "It falls.", "Each.", lambda m: falls(m, ("tto",), m.steps()))
    for _ in range(runs):
        run = against((0.3, 0.3), (0.5, 0.5))
        run.table("oversmoothing")["value"] = draw.normal(0.3, 0.01, 12)
        verdict, each = judge_by_truth(claim, run)
        for truth, one in each.items():
            found[truth] += one.verdict != OPEN
        found["both"] += verdict.verdict in (HOLDS, CONTRADICTED)
    most = 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
    assert max(found.values()) / runs <= most
    assert found["both"] <= min(found["own"], found["real"])
