"""What the chapter opens with: how far above the law models end."""

from opening import opening, row

from studies.saturation.chapter import CHAPTER


def test_ends_are_compared_with_the_law():
    rows = [row("above_last", 36, 35, 37), row("above_last", 0.5, -1, 2, rank=288), row("alpha", 0.3, rank=None)]
    sentence = opening(CHAPTER, "saturation", *rows)
    assert "36.0 [35.0, 37.0] at rank 4 and 0.5 [-1.0, 2.0] at rank 288. By its interval" in sentence
    assert sentence.endswith("at rank 288 cannot be distinguished from 0.")


def test_without_a_law_nothing_is_said():
    assert opening(CHAPTER, "saturation", row("above_last", float("nan"), note="too few losses")) == ""
