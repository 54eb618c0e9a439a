"""What the chapter opens with: how often the truth keeps a draft in pure sampling."""

from opening import opening, row

from studies.accepted_drafts.chapter import CHAPTER


def test_drafts_in_pure_sampling_are_given():
    rows = [row("acceptance", 0.5, 0.4, 0.6, decoding="pure"), row("acceptance", 0.9, decoding="greedy")]
    sentence = opening(CHAPTER, "acceptance", *rows)
    assert "probability 0.500 [0.400, 0.600] at rank 4, with both decoded" in sentence
