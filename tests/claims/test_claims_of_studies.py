"""Claims that no printed table can test: on made tables each holds, is contradicted, and says what it lacks."""

from itertools import chain

import pytest
from made_tables import CLAIMING, claims_of, measured, of_studies

from oversmoothing.claims.claim import CONTRADICTED, HOLDS, NOT_TESTED, judge

CLAIMS = claims_of(*CLAIMING)
CASES = {name: evidence for cases in of_studies("CASES") for name, evidence in cases.items()}
NONE = measured((4, 8, 16, 288))


def test_every_claim_has_its_cases():
    assert CLAIMS.keys() == {*CASES, *chain(*of_studies("BROKEN"), *of_studies("MENDED"))}


@pytest.mark.parametrize("name", CASES)
def test_a_claim_can_hold_and_be_contradicted_and_says_what_it_lacks(name):
    holds, contradicted = (judge(CLAIMS[name], evidence) for evidence in CASES[name])
    assert holds.verdict == HOLDS, holds
    assert contradicted.verdict == CONTRADICTED, contradicted
    lacking = judge(CLAIMS[name], NONE)
    assert lacking.verdict == NOT_TESTED
    assert lacking.note.startswith("there is no table")


@pytest.mark.parametrize(("name", "evidence", "note"), [*chain(*of_studies("NO_EVIDENCE"))])
def test_what_is_no_evidence_tests_nothing(name, evidence, note):
    found = judge(CLAIMS[name], evidence)
    assert (found.verdict, note in found.note) == (NOT_TESTED, True)
