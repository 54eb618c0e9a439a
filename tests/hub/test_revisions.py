"""Revisions of a repository that hold each other's weights, found before any is downloaded."""

import pytest
from default_config import default
from local_hub import Repo, local_hub, point_to

import plan
from oversmoothing.hub.revisions import check_revisions, shared
from oversmoothing.jobs import UserError

STEPS = {"step0": 0, "step4": 4, "step8": 8, "main": None}


def files(first, second=None):
    """Weights of a checkpoint in two shards, of which only the first is large."""
    small = b"%d" % (first if second is None else second)
    shards = {"model-00001-of-00002.safetensors": bytes([first]) * 5000, "model-00002-of-00002.safetensors": small}
    return {"config.json": b"{}", "tokenizer.json": b"{}", **shards}


@pytest.fixture
def hub(monkeypatch, tmp_path):
    branches = {"step0": Repo(files(0)), "step4": Repo(files(4)), "step8": Repo(files(8) | {"README.md": b"the end"})}
    with local_hub({"owner/own": Repo(files(8), branches=branches)}) as hub:
        point_to(hub.address, monkeypatch, tmp_path)
        yield hub


def check(steps=STEPS, **otherwise):
    check_revisions("owner/own", steps, otherwise)


def test_main_may_be_the_last_step_and_nothing_is_downloaded(hub):
    check()
    assert not [request for request in hub.requests if "resolve" in request]


@pytest.mark.parametrize(("first", "second", "shard"), [(4, 5, 1), (3, 4, 2)])
def test_two_steps_with_a_file_in_common(hub, first, second, shard):
    hub.repos["owner/own"].branches["step0"] = Repo(files(first, second))
    message = rf"owner/own: step0 and step4 have the same model-0000{shard}-of-.* on the hub, .*issues/205.*issues/915"
    with pytest.raises(UserError, match=message):
        check()


def test_main_that_is_an_earlier_step(hub):
    hub.repos["owner/own"].branches["step4"] = Repo(files(8) | {"README.md": b"not the end"})
    with pytest.raises(UserError, match="step4 and step8 and main have the same"):
        check()
    with pytest.raises(UserError, match="step4 and main have the same"):
        check({"step4": 4, "main": 8})  # as `main_is: step8` says


def test_main_in_the_place_of_the_last_step(hub):
    steps = {"step4": 4, "step8": 8, "step9": 9}
    check(steps)  # fetching step9 names the fault
    with pytest.raises(UserError, match="step8 and step9 have the same"):
        check(steps, step9="main")


def test_a_hub_that_cannot_be_asked_is_left_to_fetching(hub, caplog):
    hub.repos["owner/own"].branches["step0"] = Repo(files(4))
    hub.repos["owner/own"].gated = True
    check()
    assert "gated: accept its terms" in caplog.text
    hub.repos["owner/own"].gated, hub.down = False, True
    check()
    assert "the hub cannot be reached" in caplog.text
    ours = [record for record in caplog.records if record.name.startswith("oversmoothing")]
    assert len(ours) == 2  # one revision is tried, and no further one


def test_equal_weights_without_different_steps_are_no_fault():
    same = {name: {"model.safetensors": "1"} for name in "ab"}
    for steps in ((None, None), (7, None), (7, 7)):
        assert shared(same, dict(zip("ab", steps, strict=True))) == []


def test_the_revisions_of_a_repository_are_gathered_from_the_whole_config():
    truth = {"hub": "owner/own", "layout": "causal_lm", "bos": None}
    config = default(truths=[{"name": "t", "revision": "step7", **truth}, {"name": "u", **truth}])
    sources = plan.assets.by_repository(config)
    assert [(one["revision"], one["step"]) for one in sources["owner/own"].values()] == [("step7", 7), ("main", None)]
