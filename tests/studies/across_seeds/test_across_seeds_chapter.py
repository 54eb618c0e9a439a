"""What the chapter opens with: levels over seeds, steps paired by seed, and the floor."""

from opening import opening, row

from studies.across_seeds.chapter import CHAPTER

LEVELS = [row("tto", 0.3, 0.2, 0.4, rank=4, truth=None), row("tto", 0.1, 0.05, 0.15, rank=8, truth=None)]
OTHERS = [row("tto", 9, truth="truth-1"), row("tto", 9, kind="plain")]
STEPS = [row("tto_step", 0.2, 0.1, 0.3, rank=4), row("tto_step", 0.01, -0.1, 0.2, rank=8)]
FLOOR = [row("tto_floor", 0.05, 0.04, 0.06, model=None, note="full models"), row("tto_floor", 9, model="bn8-s1")]


def test_levels_steps_and_floor_are_given_and_an_open_step_is_called_open():
    assert opening(CHAPTER, "across_seeds", *LEVELS, *OTHERS, *STEPS, *FLOOR) == (
        "The probability that leaks outside the truth's nucleus (TTO) is, over all seeds, 0.300 [0.200, 0.400] at rank "
        "4 and 0.100 [0.050, 0.150] at rank 8. Paired by seed, TTO is above that of the next higher rank by 0.200 "
        "[0.100, 0.300] at rank 4 and 0.010 [-0.100, 0.200] at rank 8. By its interval the number at rank 8 cannot be "
        "distinguished from 0. Two models that differ in nothing but their seed show 0.050 [0.040, 0.060] (full "
        "models) against each other."
    )


def test_without_pairs_there_is_no_floor():
    assert "show" not in opening(CHAPTER, "across_seeds", *LEVELS, *STEPS)
