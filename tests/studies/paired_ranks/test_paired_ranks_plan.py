"""When differences are paired, and with which models."""

from default_config import default

from studies.paired_ranks.plan import compared, full

FAMILY = [{"width": 288, "heads": 6}, {"rank": 4}, {"rank": 4, "head": "plain"}, {"backward_rank": 4}]


def test_differences_need_several_seeds_and_a_full_model_of_each():
    assert not compared(default(family=FAMILY))
    several = default(family=FAMILY, seeds=[1, 2])
    assert compared(several)
    assert full(several) == ["w288-s1", "w288-s2"]
    assert not compared(default(family=[{"name": "mine", "path": "w.safetensors"}], seeds=[1, 2]))
