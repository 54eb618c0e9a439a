"""What is said of models of equal loss: the largest distance over all seeds, truths and steps."""

from opening import row

from oversmoothing.tables.record import record
from studies.along_training import figure
from studies.along_training.finding import UNTOLD, at_equal_loss, finding, opening


def training(rank, losses, tto, seed=1, truth="truth"):
    """Return the loss and TTO of a model by step."""
    facts = {"rank": rank, "seed": seed, "unit": "nats per byte"}
    losses = [row("loss", loss, step=step, **facts) for step, loss in enumerate(losses)]
    return losses + [row("tto", leak, step=step, truth=truth, **facts) for step, leak in enumerate(tto)]


FULL = training(288, (5, 3, 1), (0.8, 0.4, 0.1))  # 0.25 at a loss of 2, 0.6 at one of 4
FOUR = training(4, (5, 4, 2), (0.8, 0.56, 0.35))
SAID = "At equal loss the TTO of {} is within {} of that of rank 288, which goes from 0.800 to 0.100 in training"


def test_every_step_is_held_against_the_highest_rank_where_that_has_its_loss():
    compared = at_equal_loss(record([*FOUR, *FULL]))
    assert compared[["step", "loss", "tto"]].to_numpy().tolist() == [[0, 5, 0.8], [1, 4, 0.56], [2, 2, 0.35]]
    assert compared.highest.round(6).tolist() == [0.8, 0.6, 0.25]


def test_the_largest_distance_counts_above_and_below():
    assert finding(record([*FOUR, *FULL])) == SAID.format("rank 4", "0.100")
    below = training(8, (5, 2), (0.8, 0.05))
    assert finding(record([*FOUR, *below, *FULL])) == SAID.format("ranks 4 and 8", "0.200")


def test_it_is_the_largest_over_all_seeds_and_truths():
    again = [*training(288, (5, 3, 1), (0.8, 0.4, 0.1), seed=2), *training(4, (5, 2), (0.8, 0.55), seed=2)]
    assert finding(record([*FOUR, *FULL, *again])) == SAID.format("rank 4", "0.300")
    other = [*training(4, (), (0.8, 0.56, 0.65), truth="other"), *training(288, (), (0.8, 0.4, 0.1), truth="other")]
    assert finding(record([*FOUR, *FULL, *other])) == SAID.format("rank 4", "0.400")


def test_what_cannot_be_compared_is_left_out():
    beyond = training(8, (0.5, 0.4), (0.05, 0.04))
    assert finding(record([*FOUR, *beyond, *FULL])) == SAID.format("rank 4", "0.100")
    assert finding(record([*beyond, *FULL])) == finding(record(FULL)) == UNTOLD
    assert [*opening(record([*beyond, *FULL]))][-1].endswith(f" {UNTOLD}.")


def test_the_chapter_opens_with_it_and_its_limits_and_the_figure_bears_it():
    text = " ".join(opening(record([*FOUR, *FULL])))
    said = SAID.format("rank 4", "0.100")
    assert f" {said}. Where rank 4 ends, at a loss of 2.000, its TTO is 0.350; that of rank 288 is 0.250 where" in text
    assert "no intervals" in text
    drawn = figure.against_loss(record([*FOUR, *FULL]))
    assert " ".join(drawn.get_suptitle().split()) == said
