"""Trunks that learn on: what a graft takes, what learns, and differences and shares by hand."""

import pandas as pd
import pytest
import torch
from default_config import default
from small_training import TEXT

from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.tables.record import chosen
from plan.models import by_name
from studies.narrow_trunk.figure import draw
from studies.narrow_trunk.finding import absence
from studies.narrow_trunk.grafts import graft, learn_on, let_learn
from studies.narrow_trunk.plan import learning_settings, mistakes, trunks
from studies.narrow_trunk.table import FULL, STAYS, STOPPED, narrow_trunk_page, narrow_trunk_table

SHAPE = GPTConfig(layers=2, heads=2, width=16, block=24, rank=4, bottleneck_norm="before")
LEARNING = {
    "accumulation": 1, "batch": 2, "learning_rate": 0.01, "minimum_learning_rate": 0.0, "warmup_steps": 2,
    "decay": "linear", "weight_decay": 0.1, "betas": [0.9, 0.95], "clip": 1.0, "head_rate": "same",
    "backward_rank": None, "objective": {"name": "cross-entropy"}, "steps": [2, 5],
}  # fmt: skip
SEEDS, WINDOWS, LOSSES = (1, 2, 3), (0, 1), {"bn16": 1.0, "bn16-8steps": 1.5, "bn16-4steps": 2.0, "pl4": 1.75}
AFTER = {"bn16": 0.9, "bn16-8steps": 1.3, "bn16-4steps": 1.7, "pl4": 1.4}  # losses once all has learned on


@pytest.fixture
def trunk():
    return GPT(SHAPE, seed=3)


def test_a_graft_has_the_trunk_and_a_full_head_that_is_the_same_for_all_trunks(trunk):
    other = GPT(GPTConfig(**{**SHAPE.as_dict(), "rank": 8}), seed=4)
    first, second = graft(trunk, 7, "gpt2"), graft(other, 7, "gpt2")
    assert torch.equal(first.head.weight, second.head.weight)
    assert first.head.weight.shape == (256, 16)
    assert first.config.rank is None
    for name, weight in trunk.blocks.state_dict().items():
        assert torch.equal(first.blocks.state_dict()[name], weight)
    tokens = torch.arange(20)[None]
    taken = []
    for model in (trunk, first):
        with model.blocks[-1].register_forward_hook(lambda _, given, output: taken.append(output)):
            model.eval()(tokens)
    assert torch.equal(*taken)


@pytest.mark.parametrize(
    ("part", "moved"),
    [
        ("head", {"norm", "head"}),
        ("last_block", {"norm", "head", "blocks.1"}),
        ("all", {"norm", "head", "blocks.1", "blocks.0"}),
    ],
)
def test_only_what_may_learn_moves_and_the_model_is_read_at_each_of_the_steps(trunk, part, moved):
    model = graft(trunk, 7, "gpt2")
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    let_learn(model, part)
    text = TEXT
    taken = [(step, model.training) for step in learn_on(model, text, LEARNING, 1, "float32")]
    assert taken == [(2, False), (5, False)]
    different = {name for name, weight in model.named_parameters() if not torch.equal(weight, before[name])}
    stems = {".".join(name.split(".")[: 2 if name.startswith("blocks") else 1]) for name in different}
    assert stems - {"embedding", "position_embedding"} == moved
    assert ("embedding" in stems) == (part == "all")


def test_a_loss_that_is_no_number_names_the_key(trunk):
    model = graft(trunk, 7, "gpt2")
    model.head.weight.data.fill_(float("nan"))
    with pytest.raises(UserError, match=r"narrow_trunk\.learning_rate"):
        list(learn_on(model, TEXT, LEARNING, 1, "float32"))


@pytest.fixture
def models():
    arms = [("family", 16, "bn16"), ("shorter", 16, "bn16-8steps"), ("shorter", 16, "bn16-4steps"), ("plain", 4, "pl4")]
    return [
        {"model": f"{arm}-s{seed}", "kind": kind, "rank": rank, "seed": seed, "arm": arm}
        for seed in SEEDS
        for kind, rank, arm in arms
    ]


@pytest.fixture
def table(models):
    rows = []
    for model in models:
        for part, step, losses in ((None, 0, LOSSES), ("all", 5, AFTER)):
            for window in WINDOWS:
                value = losses[model["arm"]] + 0.01 * model["seed"] + 0.1 * window
                known = {"model": model["model"], "part": part, "step": step, "window": window, "n": 10 + 10 * window}
                rows.append({**known, "truth": None, "measure": "loss", "value": value})
                rows += [
                    {**known, "truth": "truth", "measure": name, "value": value / 10} for name in ("tto", "tv", "kl")
                ]
    return narrow_trunk_table(pd.DataFrame(rows), models, "byte")


def test_levels_are_means_over_seeds_and_positions(table):
    (level,) = chosen(table, arm="pl4", part=None, measure="loss", less=None).to_dict("records")
    assert level["value"] == pytest.approx(1.75 + 0.02 + 0.1 * 2 / 3)
    assert (level["n"], level["unit"], level["kind"], level["rank"]) == (3, "nats per byte", "plain", 4)


def test_a_full_trunk_of_equal_loss_is_between_two_that_were_stopped(table):
    """The loss 1.75 lies halfway between those after 4 and 8 steps, which end at 1.7 and 1.3: 1.5."""
    (row,) = chosen(table, arm="pl4", part="all", measure="loss", less=STOPPED).to_dict("records")
    assert row["value"] == pytest.approx(1.4 - 1.5)
    assert row["low_crossed"] == pytest.approx(row["high_crossed"])  # all seeds and windows say the same
    (full,) = chosen(table, arm="pl4", part="all", measure="loss", less=FULL).to_dict("records")
    assert full["value"] == pytest.approx(1.4 - 0.9)
    (as_trained,) = chosen(table, arm="pl4", part=None, measure="loss", less=STOPPED).to_dict("records")
    assert as_trained["value"] == pytest.approx(0)


def test_what_stays_is_a_share_of_what_was_above_the_full_model(table):
    (share,) = chosen(table, arm="pl4", measure="loss" + STAYS).to_dict("records")
    assert share["value"] == pytest.approx(0.5 / 0.75)
    assert share["unit"] == "share"


def test_page_figure_and_sentences_name_what_is_there(table):
    titles = [section.heading for section in narrow_trunk_page(table).sections]
    assert "Loss, less the full trunk of equal loss" in titles
    assert len(draw(table, "byte").axes) == 2
    (sentence,) = absence(table)
    assert "better than a full trunk of equal loss, -0.100" in sentence
    assert "67 % of its cost stays" in sentence


def test_the_plan_takes_full_models_of_all_steps_and_narrow_ones_and_tells_them_apart():
    family = [
        {"rank": 288},
        {"rank": 288, "max_steps": 300},
        {"rank": 4, "head": "plain"},
        {"backward_rank": 4},
        {"rank": 4},
    ]
    config = default(family=family, seeds=[1])
    assert [row["arm"] for row in trunks(config)] == ["bn288", "bn288-300steps", "pl4", "bw4"]
    known = by_name(config)
    whole, narrow = (learning_settings(config, known[name]) for name in ("bn288-s1", "pl4-s1"))
    assert whole["parts"] == [*narrow["parts"], "scratch"]
    assert {**whole, "parts": None} == {**narrow, "parts": None}
    assert whole["seed"] not in config["seeds"]
    assert trunks(default(family=[{"rank": 4}, {"rank": 288}])) == []
    assert list(mistakes(default(narrow_trunk={**config["narrow_trunk"], "steps": [5, 2]})))
