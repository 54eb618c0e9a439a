"""What the thesis's prose says, held against its own tables."""

import pytest
from made_evidence import FILES

from oversmoothing.claims.claims import CLAIMS
from oversmoothing.claims.published import Published
from oversmoothing.claims.verdict import judge_claim

CONTRADICTED = {
    # claim: comparisons against it, of how many, and the clearest
    "no-decoding-lifts": (84, 168, "NSMD, rank 128 greedy against rank 32 pure"),
    "only-nucleus-improves-tv": (1, 20, "TV, greedy against pure, rank 4"),
}


@pytest.fixture(scope="module")
def verdicts():
    return {claim.id: judge_claim(claim.test, Published(FILES), "not printed") for claim in CLAIMS}


def test_there_are_enough_claims_each_with_its_own_name_and_place():
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS) >= 20
    assert {claim.chapter for claim in CLAIMS} == {"3", "4", "6", "7", "F"}


def test_all_else_holds(verdicts):
    assert {name for name, verdict in verdicts.items() if verdict.verdict == "does not hold"} == set(CONTRADICTED)
    assert not [name for name, verdict in verdicts.items() if verdict.verdict in ("not printed", "cannot tell")]


@pytest.mark.parametrize("name", CONTRADICTED)
def test_prose_that_the_tables_contradict(verdicts, name):
    verdict = verdicts[name]
    assert (verdict.against, verdict.comparisons, verdict.weakest.name) == CONTRADICTED[name]


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("only-nucleus-improves-tv", 0.429 - 0.457),
        ("metrics-differ-on-32-and-128", 0.159 - 0.158),
        ("slight-rise-at-512", 0.081 - 0.099),
        ("falls-up-to-32", 0.170 - 0.158),
        ("svd-worse-than-learned", (0.433 + 0.275) / 2 - 0.226),
    ],
)
def test_the_weakest_comparisons_are_those_that_one_can_read_off(verdicts, name, effect):
    assert verdicts[name].weakest.effect == pytest.approx(effect)
