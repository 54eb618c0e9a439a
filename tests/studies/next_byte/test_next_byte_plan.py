"""Which models are shown, what prompts depend on, and how mistakes in the section `showcase` read."""

import pytest
from default_config import DEFAULT, default

import plan
from checks.config import check
from plan import ConfigError
from studies.next_byte.plan import of_first_seed, window_settings


def test_shown_are_the_first_seed_the_users_own_models_and_all_truths():
    family = [{"rank": 4}, {"name": "mine", "path": "w.safetensors"}, {"rank": 8}]
    shown = of_first_seed(default(seeds=[2, 1], svd_ranks=[4], family=family))
    assert plan.models.names(shown, "truth", "family", "svd") == ["truth", "bn4-s2", "bn8-s2", "mine", "svd4-s2"]
    truncated = plan.models.with_truncated_heads(shown)
    assert plan.models.names(truncated, "truth", "svd", "family") == ["truth", "svd4-s2", "bn8-s2"]
    facts = {"model": "bn8-s2", "kind": "family", "rank": 8, "seed": 2, "arm": "bn8"}
    assert plan.models.model_rows(truncated, "family") == [facts]


def test_what_a_prompt_is_called_is_not_in_its_windows():
    renamed = [{**entry, "name": f"my_{entry['name']}"} for entry in DEFAULT["showcase"]]
    assert window_settings(default(showcase=renamed)) == window_settings(DEFAULT)
    assert window_settings(default(tokens={"vocabulary": 400})) != window_settings(DEFAULT)


def test_what_follows_a_prompt_is_one_byte_or_of_tokens_any_text():
    showcase = [{"name": "mine", "prompt": "The train", "next": "ing"}]
    with pytest.raises(ConfigError, match="has 3 bytes"):
        check(default(showcase=showcase))
    check(default(showcase=showcase, tokens={"vocabulary": 512}))


@pytest.mark.parametrize(
    ("showcase", "message"),
    [
        ([{"name": "a", "prompt": "x" * 257, "next": "o"}], "257 bytes, and the block of bn4-s1337 256"),
        ([{"name": "a", "prompt": "wate"}], "showcase.0: a needs both `prompt` and `next`, or neither"),
        ([{"name": "a", "prompt": None, "next": "r"}], "showcase.0: a needs both `prompt` and `next`"),
        ([{"name": "svd_a", "prompt": "wate", "next": "r"}], "showcase.0.name: 'svd_a' does not match"),
        ([{"name": "a", "prompt": p, "next": "r"} for p in "xy"], "showcase.0: a is listed twice"),
    ],
)  # fmt: skip
def test_mistakes_name_their_key(showcase, message):
    with pytest.raises(ConfigError, match=message):
        check(default(showcase=showcase))
