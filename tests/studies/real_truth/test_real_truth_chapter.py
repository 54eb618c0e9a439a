"""What the chapter opens with: steps to full rank, against each truth."""

from opening import opening, row

from studies.real_truth.chapter import CHAPTER


def test_chapter_gives_the_steps_to_full_rank_against_each_truth():
    steps = [
        row("tto", 0.2, 0.1, 0.3, rank=4, truth="lm", less="rank 288"),
        row("tto", 0.01, -0.1, 0.2, rank=8, truth="lm", less="rank 288"),
        row("tto", 0.5, rank=288, truth="lm"),
    ]
    assert "Against lm, TTO less that of rank 288, paired by seed, is 0.200 [0.100, 0.300] at rank 4" in opening(
        CHAPTER, "real_truth", *steps
    )
