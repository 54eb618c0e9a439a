"""Models that learn to repeat a symbol: what counts is draws, and the arms differ in what their names say."""

import math

import numpy as np
import pytest
import torch
from default_config import default

from studies.repeated_symbols.arms import ARMS, batch, vocabularies
from studies.repeated_symbols.learn import LogitTable, build, evaluate, losses, points
from studies.repeated_symbols.measure import subnormals_as_zero
from studies.repeated_symbols.plan import training_settings

SMALL = {"vocabularies": [32, 64], "width": 8, "rank": 2, "draws": 6, "evaluated": 64, "length": 16, "batch": 8}


@pytest.fixture(scope="module")
def settings():
    return training_settings(default(repeated_symbols=SMALL))


def test_a_long_sequence_is_one_draw(settings):
    one, many = (np.array(list(losses(name, 32, 1, 0.01, settings))) for name in ("full", "long"))
    assert len(one) > 10
    assert one[-1, 2] < 0.9 * one[0, 2]
    np.testing.assert_array_equal(one[:, :2], many[:, :2])
    np.testing.assert_allclose(one[:, 2], many[:, 2], rtol=0, atol=1e-5)


def test_a_token_of_a_long_sequence_sees_as_many_others_as_its_length(settings):
    model = build("full", 32, 16, 0, settings)
    tokens = torch.arange(16)[None]
    torch.testing.assert_close(model(tokens[:, -1:])[0, 0], model(tokens.new_full((1, 16), 15))[0, -1])
    assert (model(tokens[:, -1:])[0, 0] - model(tokens)[0, -1]).abs().max() > 0.01


def test_batches_in_proportion_draw_each_symbol_as_often_after_as_many_steps(settings):
    assert [batch("full", v, settings) for v in (32, 64)] == [2, 4]
    assert [batch("full_fixed", v, settings) for v in (32, 64)] == [8, 8]
    draws = [[(step, draws) for step, draws, _ in losses("table", v, 0, 1e-6, settings)] for v in (32, 64)]
    assert draws[0] == draws[1]
    assert draws[0][-1] == (96, 6.0)


def test_an_arm_changes_what_it_says(settings):
    shapes = {kind: build(kind, 32, 1, 0, settings).head.weight.shape for kind in ("full", "plain", "unused", "table")}
    assert {kind: tuple(shape) for kind, shape in shapes.items()} == {
        "full": (32, 8),
        "plain": (32, 2),
        "unused": (64, 8),
        "table": (32, 32),
    }
    alone = build("alone", 32, 1, 0, settings)
    assert [name for name, weight in alone.named_parameters() if weight.requires_grad] == ["head.weight"]


def test_the_gradient_of_a_low_rank_makes_another_training(settings):
    full, backward = (list(losses(name, 32, 0, 0.03, settings)) for name in ("full", "backward"))
    assert full[0] == backward[0]
    assert full[-1][2] != backward[-1][2]


def test_a_table_learns_a_symbol_from_its_first_draw_and_nothing_of_others(settings):
    table = LogitTable(build("table", 32, 1, 0, settings).config)
    assert evaluate(table, torch.arange(32)) == pytest.approx(math.log(32))
    drawn = {row[1]: row[2] for row in losses("table", 64, 0, 1.0, {**settings, "draws": 1})}
    unseen = math.exp(-1)  # of the symbols, after a draw of each in the mean
    assert drawn[1.0] > 0.6 * unseen * math.log(64)


def test_subnormal_numbers_are_zero_in_a_training_alone():
    smallest = torch.tensor([5e-324], dtype=torch.float64)
    with pytest.raises(KeyError), subnormals_as_zero():
        assert (smallest * 1 == 0).all()
        raise KeyError
    assert (smallest * 1 > 0).all()


def test_points_are_as_far_apart_in_draws_for_every_vocabulary(settings):
    long = {**settings, "draws": 8}
    assert points(64, 4, long)[-1] == 128
    assert points(64, 4, {**long, "steps": 40})[-1] == 40
    assert {2 * point for point in points(64, 8, long)} >= {0, 16, 32, 64, 128}


def test_vocabularies_of_arms(settings):
    three = {**settings, "vocabularies": [256, 4096, 1024], "largest_table": 1024}
    of_arms = {name: vocabularies(name, three) for name in ARMS}
    assert of_arms["full"] == of_arms["alone_fixed"] == [256, 1024, 4096]
    assert of_arms["table"] == of_arms["unused"] == [256, 1024]
    assert of_arms["long"] == [256]
