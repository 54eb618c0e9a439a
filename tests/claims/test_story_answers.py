"""The sentences that open a chapter: numbers, intervals, and what these do not distinguish."""

import math
from functools import partial

import pytest

from oversmoothing.claims.story.answers import SEVERAL, SOME, at_each, at_ends, at_lowest, said
from oversmoothing.tables.record import record

NONE = (math.nan, math.nan)


def row(rank, value, ends=NONE, measure="tto", kind="family", seed=1, truth="truth", decoding="pure", model=None):
    facts = {"model": model or f"bn{rank}-s{seed}", "kind": kind, "rank": rank, "seed": seed}
    where = {"truth": truth, "decoding": decoding, "measure": measure}
    return facts | where | {"value": value, "low": ends[0], "high": ends[1]}


def told(answer, *rows):
    return " ".join(answer(record(rows)))


LOW, MIDDLE, HIGH = row(4, 0.3, (0.2, 0.4)), row(8, 0.25, (0.1, 0.5)), row(288, 0.1, (0.05, 0.15))
TTO = partial(at_ends, sentence="TTO is {}.", measure="tto")


def test_the_lowest_and_the_highest_rank_are_named_with_their_intervals():
    expected = "TTO is 0.300 [0.200, 0.400] at rank 4 and 0.100 [0.050, 0.150] at rank 288."
    assert told(TTO, HIGH, MIDDLE, LOW, row(4, 9, measure="tv")) == expected


def test_numbers_whose_intervals_overlap_are_not_distinguished():
    sentence = told(TTO, LOW, MIDDLE)
    assert sentence.endswith(
        "at rank 8. By its interval alone the number at rank 8 cannot be distinguished from that at rank 4."
    )
    touching = told(TTO, LOW, row(8, 0.5, (0.4, 0.6)))
    assert "cannot be distinguished" in touching
    apart = told(TTO, LOW, row(8, 0.5, (0.41, 0.6)))
    assert "cannot be distinguished" not in apart


def test_each_truth_has_its_sentence_and_no_number_is_a_mean_over_truths():
    other = [row(4, 0.6, (0.5, 0.7), truth="other"), row(288, 0.3, (0.25, 0.35), truth="other")]
    assert told(TTO, LOW, HIGH, *other) == (
        "TTO is 0.300 [0.200, 0.400] at rank 4 and 0.100 [0.050, 0.150] at rank 288, against truth. "
        "Against other it is 0.600 [0.500, 0.700] at rank 4 and 0.300 [0.250, 0.350] at rank 288."
    )
    pooled = row(4, 0.45, (0.3, 0.6), truth=None)
    assert "0.450" not in told(TTO, LOW, HIGH, *other, pooled)
    of_truth = {"kind": "truth", "truth": None, "measure": "accuracy"}
    truths = [row(None, value, model=name, **of_truth) for name, value in (("own", 0.6), ("real", 0.8))]
    answer = partial(at_ends, sentence="It is {}.", also={"for the truth ({model})": {"kind": "truth"}}, kind="family")
    sentence = told(partial(answer, measure="accuracy"), row(4, 0.4, truth=None, measure="accuracy"), *truths)
    assert sentence == "It is 0.400 at rank 4, 0.600 for the truth (own) and 0.800 for the truth (real)."


def test_several_trainings_are_a_mean_with_an_interval_over_them_and_compared_in_pairs():
    seeds = [
        row(rank, value + seed / 10, (0, 1), seed=seed) for seed in (1, 2, 3) for rank, value in ((4, 0.31), (288, 0.3))
    ]
    apart = told(TTO, *seeds)
    assert apart == f"TTO is 0.510 [0.262, 0.758] at rank 4 and 0.500 [0.252, 0.748] at rank 288. {SEVERAL}"
    close = told(TTO, *seeds, row(4, 0.2, seed=4), row(288, 0.9, seed=4))
    assert "Paired by seed, the number at rank 288 cannot be distinguished from that at rank 4." in close
    mixed = told(
        partial(at_ends, sentence="It is {}.", also={"in texts": {"kind": "human"}}, kind="family"),
        *seeds,
        row(None, 0.6, (0.5, 0.7), kind="human", model="human"),
    )
    assert mixed.endswith(SOME)
    assert "By its interval alone the number in texts cannot" in mixed


def test_what_has_no_interval_says_so_where_no_number_has_one():
    alone = partial(TTO, alone="It has no interval.")
    assert told(alone, row(4, 0.5)) == "TTO is 0.500 at rank 4. It has no interval."
    assert "no interval" not in told(alone, LOW)


def test_models_without_a_rank_go_by_their_names_and_one_rank_stands_alone():
    hub = told(TTO, row(None, 0.3, model="small"), row(None, 0.1, model="large"))
    assert hub == "TTO is 0.300 in small and 0.100 in large."
    assert told(TTO, LOW) == "TTO is 0.300 [0.200, 0.400] at rank 4."


def test_without_values_nothing_is_said():
    at_lowest_of = partial(at_lowest, sentence="{at}: {}.", by="decoding", measure="tv")
    assert told(TTO) == told(TTO, row(4, math.nan)) == told(at_lowest_of, LOW) == ""


def test_further_numbers_have_their_place():
    also = {"for the truth": {"kind": "truth"}}
    answer = partial(at_ends, sentence="It is {}.", also=also, measure="tto", kind="family")
    sentence = told(answer, LOW, row(None, 0.25, (0.1, 0.3), kind="truth", model="truth"), row(4, 9, kind="svd"))
    assert (
        "at rank 4 and 0.250 [0.100, 0.300] for the truth. By its interval alone the number for the truth" in sentence
    )
    assert told(answer, row(None, 0.2, kind="truth", model="truth")) == ""


def test_at_the_lowest_rank_every_value_of_a_column_is_named():
    greedy, sharp = row(4, 0.1, (0.05, 0.15), decoding="greedy"), row(4, 0.25, (0.2, 0.3), decoding="top-p")
    answer = partial(at_lowest, sentence="{at} TTO is {}.", by="decoding", measure="tto")
    assert told(answer, HIGH, LOW, greedy, sharp) == (
        "At rank 4 TTO is 0.300 [0.200, 0.400] under pure, 0.100 [0.050, 0.150] under greedy and 0.250 [0.200, 0.300] "
        "under top-p. By its interval alone the number under top-p cannot be distinguished from that under pure."
    )
    chosen = partial(
        at_lowest, sentence="{at} TTO is {}.", by="decoding", names={"greedy": "with one byte"}, measure="tto"
    )
    assert told(chosen, LOW, greedy) == "At rank 4 TTO is 0.100 [0.050, 0.150] with one byte."


@pytest.mark.parametrize(("ends", "open_"), [((-0.1, 0.3), True), ((0.0, 0.3), True), ((0.01, 0.3), False)])
def test_a_difference_is_compared_with_0(ends, open_):
    rows = record([row(4, 0.1, ends), row(8, 0.1, (0.05, 0.2))])
    groups = {f"at {rank}": rows[rows["rank"] == rank] for rank in (4, 8)}
    sentence = " ".join(said("It costs {}.", groups, difference=True))
    assert ("By its interval the number at 4 cannot be distinguished from 0." in sentence) == open_
    assert "from that" not in sentence


def test_every_rank_or_other_value_has_its_number():
    assert told(partial(at_each, sentence="Steps are {}.", measure="tto"), LOW, MIDDLE) == (
        "Steps are 0.300 [0.200, 0.400] at rank 4 and 0.250 [0.100, 0.500] at rank 8. By its interval alone the number "
        "at rank 8 cannot be distinguished from that at rank 4."
    )
    assert (
        told(partial(at_each, sentence="It is {}.", by="truth", measure="tto"), LOW)
        == "It is 0.300 [0.200, 0.400] (truth)."
    )
    assert told(partial(at_each, sentence="It is {}.", measure="tto")) == ""
