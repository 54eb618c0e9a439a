"""Which models are divided into forced and rest."""

import pytest
from default_config import default

from checks.config import check
from oversmoothing.models.output_kinds import KINDS, LINEAR
from plan.settings import ConfigError
from studies.forced_part.plan import scored_models


def test_members_whose_logits_are_capped_are_left_out():
    members = [{"rank": 4}, {"name": "plain", "hub": "o/plain"}, {"name": "soft", "hub": "o/soft", "capped": True}]
    chosen = {"tokens": {"tokenizer": "o/soft"}, "svd_ranks": [8], "svd_of": "soft"}
    config = default(family=members, truths=[{"name": "t", "hub": "o/t"}], **chosen)
    scored = [row["model"] for row in scored_models(config) if row["kind"] in ("family", "svd")]
    assert scored == ["bn4-s1337", "plain"]


def test_output_layers_that_are_not_linear_are_left_out():
    kinds = [kind for kind in KINDS if kind != LINEAR]
    family = [{"rank": 288}, {"rank": 4}, *({"rank": 4, "output": kind} for kind in kinds)]
    scored = {row["model"] for row in scored_models(default(family=family))}
    assert {"bn4-s1337", "bn288-s1337"} <= scored
    assert not {f"{kind}-bn4-s1337" for kind in kinds} & scored


@pytest.mark.parametrize(("highest", "truncated"), [(64, [4, 64]), (None, [4, 64, 128])])
def test_derived_heads_of_high_rank_are_left_out(highest, truncated):
    config = default(family=[{"rank": 288}, {"rank": 128}], svd_ranks=[4, 64, 128], retrained={"ranks": []})
    config["metrics"]["forced"]["derived_up_to"] = highest
    ranks = [(row["kind"], row["rank"]) for row in scored_models(config)]
    assert ranks == [("family", 288), ("family", 128), *(("svd", rank) for rank in truncated)]


def test_a_truth_for_best_heads_that_does_not_exist_is_named():
    forced = {"best_head_truths": ["truth", "other"]}
    with pytest.raises(ConfigError, match=r"metrics\.forced\.best_head_truths: no truth is called 'other'; there are"):
        check(default(metrics={"forced": forced}))
