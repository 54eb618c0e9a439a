"""Mistakes in the study's section, and its rules: none in the default."""

import pytest
from default_config import default
from study import TINY

import plan
from checks.config import check

TWO = {"vocabularies": [32, 64]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocabularies": [32, 40]}, "vocabularies: 40 is no multiple of steps_per_draw, 16"),
        ({"vocabularies": [32]}, "vocabularies: one is compared with nothing; list at least two"),
        ({**TWO, "rank": 32}, "rank: 32 must be below the width, 32"),
        ({**TWO, "heads": 3}, "width: 32 is no multiple of twice the heads, 3"),
        ({**TWO, "trial_seed": 2}, "trial_seed: 2 is in seeds"),
        ({**TWO, "threshold": 1.0}, "threshold: 1.0 is greater than or equal to"),
    ],
)
def test_mistakes_name_their_key(changes, message):
    with pytest.raises(plan.ConfigError, match=rf"repeated_symbols\.{message}"):
        check(default(repeated_symbols=changes))


def test_a_config_with_vocabularies_is_taken():
    check(default(repeated_symbols=TWO))


def test_the_default_makes_none_of_it_and_a_list_of_vocabularies_makes_all(copy):
    assert not {"repeat_symbols", "repeated_symbols_table"} & set(copy.planned("all", config=(TINY,)))
    (copy.folder / "two.yaml").write_text("repeated_symbols: {vocabularies: [32, 64]}\n")
    target = "results/tables/repeated_symbols.csv"
    assert copy.planned(target, config=(TINY, "two.yaml")) == {"repeat_symbols": 10, "repeated_symbols_table": 1}
