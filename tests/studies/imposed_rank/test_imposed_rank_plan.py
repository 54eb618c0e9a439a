"""The heads retrained on the full model: which follow from a config, what they depend on and what they take."""

import pytest
from default_config import DEFAULT, default

import plan
from checks.config import check
from oversmoothing.models.gpt_shape import flops_per_byte
from oversmoothing.models.output_kinds import KINDS, LINEAR
from plan.settings import ConfigError
from studies.imposed_rank import plan as imposed_rank


def test_retrained_heads_have_the_highest_member_behind_them_and_are_no_models():
    config = default(seeds=[1, 2], svd_ranks=[4], retrained={"ranks": [8, 256]}, family=[{"rank": 4}, {"rank": 32}])
    check(config)
    heads = imposed_rank.models(config)
    assert list(heads) == ["ab8-s1", "ln8-s1", "ab8-s2", "ln8-s2"]  # above rank 32 nothing would be imposed
    assert {heads[name].source for name in ("ab8-s2", "ln8-s2")} == {"bn32-s2"}
    assert not set(heads) & set(plan.models.by_name(config))
    assert imposed_rank.head_settings(config, heads["ab8-s1"])["rank"] == 8
    assert [imposed_rank.head_settings(config, heads[name])["norm"] for name in ("ab8-s1", "ln8-s1")] == [
        "none",
        "after",
    ]
    ways = [(row["kind"], row["rank"]) for row in imposed_rank.rows(config) if row["seed"] == 2]
    assert ways == [("family", 4), ("family", 32), ("svd", 4), ("retrained", 8), ("normed", 8)]
    none = default(svd_ranks=[], retrained={"ranks": []}, family=[{"name": "mine", "path": "w.safetensors"}])
    check(none)
    assert imposed_rank.rows(none) == []


SQUARE = [{"width": 32, "heads": 2}, {"rank": 4, "head": "plain"}, {"rank": 8}]


def test_a_square_is_closed_where_there_is_a_plain_head():
    config = default(
        seeds=[1, 2], family=SQUARE, retrained={"ranks": [4, 8], "norm": ["none"], "square": True}, svd_ranks=[]
    )
    check(config)
    heads = imposed_rank.models(config)
    assert {name: head.source for name, head in heads.items() if head.seed == 1} == {
        "ab4-s1": "w32-s1", "ab8-s1": "w32-s1", "full32-s1": "w32-s1", "full4-s1": "pl4-s1", "own4-s1": "pl4-s1",
    }  # fmt: skip
    assert [head.rank for head in heads.values() if head.seed == 2] == [4, 8, 32, 4, 4]
    read = {
        name: tuple(imposed_rank.head_settings(config, heads[f"{name}-s1"])[key] for key in ("rank", "reads"))
        for name in ("ab4", "full32", "full4", "own4")
    }
    assert read == {"ab4": (4, "post"), "full32": (None, "post"), "full4": (None, "pre"), "own4": (4, "pre")}
    assert imposed_rank.work(config)[0]["count"] == 2 * 5


def test_claims_compare_heads_without_a_layer_norm_alone():
    rows = plan.models.compared_models(default())
    compared = [row["model"] for row in rows if row["kind"] not in ("family", "svd", "truth")]
    assert compared == [f"ab{rank}-s1337" for rank in DEFAULT["retrained"]["ranks"]]


def test_arms_are_rows_beside_the_family_and_a_member_without_a_rank_is_none():
    arms = [{"width": 288, "heads": 6}, {"rank": 16}, {"rank": 16, "head": "plain"}, {"backward_rank": 16}]
    found = [(row["kind"], row["rank"]) for row in imposed_rank.rows(default(family=arms, svd_ranks=[4]))]
    assert found[:4] == [("family", 288), ("family", 16), ("plain", 16), ("backward", 16)]
    family = [{"rank": 4}, {"name": "large", "hub": "o/large"}]
    config = default(tokens={"tokenizer": "o/large"}, family=family, svd_of="large", retrained={"ranks": []})
    assert [row["kind"] for row in imposed_rank.rows(config)] == ["family"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"retrained": {"square": True}}, "retrained.square: takes `none` .* `head: plain` has"),
        ({"retrained": {"square": True, "norm": ["after"]}, "family": SQUARE}, "retrained.square: takes `none`"),
    ],
)
def test_mistakes_are_named(changes, message):
    with pytest.raises(ConfigError, match=message):
        check(default(**changes))


SHAPE = {"layers": 1, "heads": 2, "width": 4, "block": 32, "rank": None}
HEAD = {"rank": 2, "reads": "post", "max_steps": 10, "batch": 4, "evaluation_interval": 4, "evaluation_batches": 3}


def test_operations_by_hand():
    per_byte = flops_per_byte(SHAPE) // 3 + 6 * 2 * (256 + 4)  # A (256 x 2) and B (2 x 4)
    evaluated = 4 * 3  # batches, at steps 0, 4, 8 and 10
    assert imposed_rank.retraining_flops(SHAPE, HEAD) == (10 + evaluated) * 4 * 32 * per_byte
    (work,) = imposed_rank.work(default(retrained={"ranks": [8]}))
    assert (work["count"], work["operations"] > 10**9) == (2, True)
    whole = {**HEAD, "rank": None, "reads": "pre"}
    narrow = {**SHAPE, "rank": 2}
    per_byte = flops_per_byte(narrow) // 3 + 6 * 256 * 4
    assert imposed_rank.retraining_flops(narrow, whole) == (10 + evaluated) * 4 * 32 * per_byte


def test_output_layers_that_are_not_linear_are_compared():
    kinds = [kind for kind in KINDS if kind != LINEAR]
    config = default(family=[{"rank": 288}, {"rank": 4}, *({"rank": 4, "output": kind} for kind in kinds)])
    assert {f"{kind}-bn4-s1337" for kind in kinds} <= {row["model"] for row in imposed_rank.rows(config)}


def test_a_rank_of_a_model_that_is_narrow_throughout_is_not_imposed():
    narrow = [{"width": 16, "heads": 1}, {"width": 288, "heads": 9}, {"rank": 4}]
    found = [(row["kind"], row["rank"]) for row in imposed_rank.rows(default(family=narrow, svd_ranks=[]))]
    assert ("family", 16) not in found
    assert {("family", 288), ("family", 4)} <= set(found)
