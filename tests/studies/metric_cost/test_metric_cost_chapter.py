"""What the chapter opens with: how many times longer the published method takes."""

from math import nan

from opening import opening, row

from studies.metric_cost.chapter import CHAPTER


def test_ranks_at_which_it_was_run_are_given():
    rows = [row("ratio", 40.4), row("ratio", 900, rank=32), row("ratio", nan, rank=288), row("tbat", 1e-3)]
    sentence = opening(CHAPTER, "metric_cost", *rows)
    assert sentence.endswith(": 40 at rank 4 and 900 at rank 32.")
