"""What a config may ask of frontiers."""

import pytest
from default_config import default

from checks.config import check
from plan.settings import ConfigError


def test_capped_logits_have_no_frontier_of_bat():
    members = [{"rank": 4}, {"name": "soft", "hub": "o/soft", "capped": True}]
    chosen = {"family": members, "truths": [{"name": "t", "hub": "o/t"}], "tokens": {"tokenizer": "o/soft"}}
    chosen |= {"svd_ranks": [8], "svd_of": "soft"}
    check(default(**chosen, frontier={"deltas": []}))
    with pytest.raises(ConfigError, match=r"frontier\.deltas: BAT needs linear logits, and those of soft are capped"):
        check(default(**chosen, frontier={"deltas": [0.1, 0.2]}))
