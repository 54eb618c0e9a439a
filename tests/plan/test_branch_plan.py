"""What branches off what, and settings of a schedule that others do not have."""

import pytest
from default_config import default

from plan.branches import mistakes, trunks
from plan.models import by_name, trained_member

STEPS = [{"rank": 4}, {"rank": 288}, {"rank": 288, "max_steps": 300}, {"rank": 288, "max_steps": 450}]


@pytest.fixture
def config():
    training = {**default()["training"], "decay": "stable", "snapshots": False}
    return default(family=STEPS, seeds=[1, 2], training=training)


def test_models_that_differ_in_steps_alone_branch_off_the_longest_of_their_seed(config):
    found = trunks(by_name(config).values())
    names = [f"bn288{steps}-s{seed}" for seed in (1, 2) for steps in ("", "-300steps", "-450steps")]
    assert sorted(found) == sorted(names)
    trunk = found["bn288-300steps-s2"]
    assert trunk is found["bn288-s2"]
    assert (trunk.name, trunk.seed) == ("bn288-s2", 2)
    schedule = {key: trunk.settings["training"][key] for key in ("max_steps", "decay_share", "states")}
    assert schedule == {"max_steps": 720, "decay_share": 0, "states": [240, 360, 720]}
    branch = by_name(config)["bn288-300steps-s2"].settings
    assert branch["training"]["max_steps"] == 300
    assert branch["training"]["warmup_steps"] == config["training"]["warmup_steps"]


def test_other_schedules_have_no_branches_and_keep_their_settings():
    config = default(family=STEPS)
    assert trunks(by_name(config).values()) == {}
    member = trained_member(config, STEPS[2], 1).settings["training"]
    assert "decay_share" not in member
    assert member["warmup_steps"] == 50


def test_mistakes_of_branches_name_their_keys(config):
    def told(**training):
        changed = {**config, "training": {**config["training"], **training}}
        return "\n".join(mistakes(by_name(changed).values()))

    assert told() == ""
    assert "training.snapshots: write false" in told(snapshots=True)
    assert "0.6 of the 300 steps of bn288-300steps-s1 begins before the warm-up of 150" in told(decay_share=0.6)
    rates = {**config, "learning_rates": {"tried": [0.001], "seed": 0}}
    assert "learning_rates.tried: write []" in "\n".join(mistakes(by_name(rates).values()))
