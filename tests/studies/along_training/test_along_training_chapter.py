"""What is said of models of equal loss and of what heads force: no more than all seeds, truths and steps allow."""

import pandas as pd
import pytest
from opening import row

from oversmoothing.tables.record import record
from studies.along_training.figure import against_loss, forced, over_at, which_ends_first
from studies.along_training.finding import UNTOLD, finding, opening


def training(rank, losses, tto, seed=1, truth="truth"):
    """Return the loss and TTO of a model by step."""
    facts = {"rank": rank, "seed": seed, "unit": "nats per byte"}
    losses = [row("loss", loss, step=step, **facts) for step, loss in enumerate(losses)]
    return losses + [row("tto", leak, step=step, truth=truth, **facts) for step, leak in enumerate(tto)]


FULL = training(288, (5, 3, 1), (0.8, 0.4, 0.1))  # 0.25 at a loss of 2, 0.6 at one of 4
FOUR = training(4, (5, 4, 2), (0.8, 0.56, 0.35))
SAID = "At equal loss the TTO of {} is within {} of that of rank 288, which goes from 0.800 to 0.100 in training"
AGAIN = [*training(288, (5, 3, 1), (0.8, 0.4, 0.1), seed=2), *training(4, (5, 2), (0.8, 0.55), seed=2)]
OTHER = [*training(4, (), (0.8, 0.56, 0.65), truth="other"), *training(288, (), (0.8, 0.4, 0.1), truth="other")]
BEYOND = training(8, (0.5, 0.4), (0.05, 0.04))


@pytest.mark.parametrize(
    ("more", "ranks", "apart"),
    [
        ([], "rank 4", "0.100"),
        (training(8, (5, 2), (0.8, 0.05)), "ranks 4 and 8", "0.200"),  # below the full model's
        (AGAIN, "rank 4", "0.300"),
        (BEYOND, "rank 4", "0.100"),
    ],
)
def test_the_largest_distance_over_all_seeds_and_truths_counts(more, ranks, apart):
    assert finding(record([*FOUR, *FULL, *more])) == SAID.format(ranks, apart)


def test_each_truth_has_its_course():
    own = record([*FOUR, *FULL, *OTHER])
    course = (
        "which goes from 0.800 to 0.100 in training against truth and from 0.800 to 0.100 in training against other"
    )
    assert finding(own) == f"At equal loss the TTO of rank 4 is within 0.400 of that of rank 288, {course}"
    assert [sentence.partition("; ")[0] for sentence in list(opening(own))[1:]] == [
        "Where rank 4 ends, at a loss of 2.000, its TTO is 0.350 against truth",
        "Where rank 4 ends, at a loss of 2.000, its TTO is 0.650 against other",
    ]


def test_what_cannot_be_compared_is_left_out():
    assert finding(record([*BEYOND, *FULL])) == finding(record(FULL)) == UNTOLD
    assert [*opening(record([*BEYOND, *FULL]))][-1].endswith(f" {UNTOLD}.")


def test_the_chapter_opens_with_it_and_its_limits_and_the_figure_bears_it():
    text = " ".join(opening(record([*FOUR, *FULL])))
    said = SAID.format("rank 4", "0.100")
    assert f" {said}. Where rank 4 ends, at a loss of 2.000, its TTO is 0.350; that of rank 288 is 0.250 where" in text
    assert "no intervals" in text
    drawn = against_loss(record([*FOUR, *FULL]))
    assert " ".join(drawn.get_suptitle().split()) == said


def along(falling, rest, rank=4, seed=1, truth="truth", steps=(0, 1, 2, 4)):
    facts = {"model": f"bn{rank}-s{seed}", "rank": rank, "seed": seed, "unit": "nats", "layer": None, "truth": truth}
    return pd.DataFrame(
        [
            facts | {"measure": part, "step": step, "value": value, "n": 5}
            for part, own in (("forced", falling), ("rest", rest))
            for step, value in zip(steps, own, strict=True)
        ]
    )


EARLY, LATE, FLAT = (3, 1.1, 1, 1), (3, 2.9, 2, 1), (0, 0, 0, 0)


def test_a_fall_is_over_at_the_first_step_that_has_lost_nine_tenths_of_it():
    steps = [0, 1, 2, 4]
    assert over_at(pd.Series([3, 1.21, 1.2, 1], steps)) == 2
    assert over_at(pd.Series([1.2, 3, 1], [2, 0, 4])) == 2  # in the order of steps
    assert over_at(pd.Series([1, 2], [0, 1])) is None
    assert over_at(pd.Series([2, 1.5, 1], [0, 1, 2])) is None  # half of it stays
    assert over_at(pd.Series(FLAT, steps)) is None


BEFORE = "The fall of the forced part is over before that of the rest at rank 4"
NOTHING = "The forced part and the rest along training"


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([along(EARLY, LATE)], BEFORE),
        ([along(EARLY, LATE), along(LATE, EARLY, rank=8)], f"{BEFORE}, after that of the rest at rank 8"),
        ([along(EARLY, LATE), along(EARLY, LATE, seed=2)], BEFORE),
        ([along(EARLY, LATE), along(LATE, EARLY, seed=2)], NOTHING),
        ([along(EARLY, LATE), along(EARLY, EARLY, truth="other")], NOTHING),
        ([along(EARLY, EARLY)], NOTHING),
        ([along(FLAT, LATE)], NOTHING),
    ],
)
def test_the_order_of_the_falls_is_stated_where_all_seeds_agree(parts, said):
    assert which_ends_first(pd.concat(parts)) == said


def test_along_training_every_rank_has_a_panel_and_every_seed_a_line():
    own = pd.concat([along(EARLY, LATE), along(EARLY, LATE, seed=2), along(FLAT, LATE, rank=288)])
    figure = forced(pd.concat([own, own.assign(measure="loss", truth=None)]))
    assert [axes.get_title("left") for axes in figure.axes] == ["rank 4", "rank 288: nothing forced"]
    lines = [line for line in figure.axes[0].lines if line.get_marker() == "D"]
    assert [list(line.get_ydata()) for line in lines] == [list(EARLY)] * 2
    rings = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_markersize() == 13]
    assert rings == [1, 4] * 2
    assert " ".join(figure.get_suptitle().split()) == BEFORE
