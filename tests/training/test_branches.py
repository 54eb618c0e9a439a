"""Trainings that branch off one: the bits of a training in one go, and what they do not go on from."""

import pytest
import torch
from small_training import FULL, SETTINGS, SHAPE, TEXT, folder_of, make_task, same_bits

from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_metadata, load_tensors
from oversmoothing.store.parquet import read_table
from oversmoothing.training import checkpoint
from oversmoothing.training.accepted import discard
from oversmoothing.training.checkpoint import Checkpoints
from oversmoothing.training.group import Group
from oversmoothing.training.loop import train
from oversmoothing.training.schedule import decay_begins, learning_rate
from oversmoothing.training.task import perform

STABLE = {**SETTINGS, "decay": "stable", "decay_share": 0.25, "minimum_learning_rate": 0.0, "snapshots": False}
TRUNK = {**STABLE, "max_steps": 30, "decay_share": 0, "states": [15, 30]}
LENGTHS = (20, 40)  # steps, of which the last 5 and 10 are the decay


def test_the_rate_stays_at_its_peak_until_the_last_steps():
    rates = [learning_rate(step, STABLE) for step in range(41)]
    assert rates[:4] == pytest.approx([0.002, 0.004, 0.006, 0.008])
    assert rates[4:31] == [0.01] * 27
    assert rates[30:] == pytest.approx([0.001 * left for left in range(10, -1, -1)])
    assert [learning_rate(step, TRUNK) for step in range(31)] == rates[:31]
    assert [decay_begins({**STABLE, "max_steps": steps}) for steps in LENGTHS] == [15, 30]
    to_a_tenth = {**STABLE, "minimum_learning_rate": 0.001}
    assert learning_rate(35, to_a_tenth) == pytest.approx((0.01 + 0.001) / 2)


def learn(folder, key, changes, start=None, shape=SHAPE, seed=1):
    """Train under a `Checkpoints` of 5 steps; return what the training ends with."""
    torch.set_num_threads(1)
    checkpoints = Checkpoints(folder / key, key, interval=5)
    with checkpoints.lock():
        progress = train(
            GPT(GPTConfig(**shape), seed), TEXT, TEXT[:500], changes, seed, "float32", checkpoints, start=start
        )
    return progress, checkpoints.folder


@pytest.fixture(scope="module")
def trunk(tmp_path_factory):
    progress, folder = learn(tmp_path_factory.mktemp("trunk"), "trunk", TRUNK)
    assert (progress.step, progress.finished) == (30, True)
    assert [row["step"] for row in progress.history] == [0, 10, 20, 30]
    return folder


@pytest.mark.parametrize("steps", LENGTHS)
def test_a_branch_equals_a_training_in_one_go_to_the_bit(tmp_path, trunk, steps):
    settings = {**STABLE, "max_steps": steps}
    alone, in_one_go = learn(tmp_path, "alone", settings)
    progress, branch = learn(tmp_path, "branch", settings, trunk.state(decay_begins(settings)))
    assert progress == alone
    assert same_bits(branch.best, in_one_go.best)
    assert alone.step == steps


def test_a_branch_of_the_best_weights_before_it_keeps_them(tmp_path):
    """Where the rate rises at the end, the best weights are those of a step that the branch never took."""
    seldom = {"evaluation_interval": 20, "minimum_learning_rate": 3.0}
    _, trunk = learn(tmp_path, "trunk", {**TRUNK, **seldom})
    settings = {**STABLE, **seldom}
    alone, in_one_go = learn(tmp_path, "alone", settings)
    assert alone.best_step < decay_begins(settings)
    progress, branch = learn(tmp_path, "branch", settings, trunk.state(30))
    assert progress == alone
    assert same_bits(branch.best, in_one_go.best)


@pytest.mark.parametrize("killed", ["trunk", "branch"])
def test_a_killed_training_resumes_exactly(tmp_path, trunk, monkeypatch, killed):
    whole = Checkpoints._write
    saved = []

    def write(self, tensors, progress, state=None):
        whole(self, tensors, progress, state)
        saved.append(progress.step)
        if progress.step == (20 if killed == "trunk" else 35):
            raise KeyboardInterrupt

    settings, start = (TRUNK, None) if killed == "trunk" else (STABLE, trunk.state(30))
    monkeypatch.setattr(checkpoint.Checkpoints, "_write", write)
    with pytest.raises(KeyboardInterrupt):
        learn(tmp_path, "k", settings, start)
    monkeypatch.undo()
    _, folder = learn(tmp_path, "k", settings, start)
    if killed == "trunk":
        assert all(same_bits(folder.state(step), trunk.state(step)) for step in TRUNK["states"])
    else:
        _, undisturbed = learn(tmp_path, "undisturbed", settings, start)
        assert same_bits(folder.best, undisturbed.best)
    assert saved


def test_a_damaged_state_of_a_step_that_will_not_come_again_is_an_error(tmp_path):
    _, folder = learn(tmp_path, "trunk", TRUNK)
    folder.state(15).write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"00000015\.safetensors: missing or damaged"):
        learn(tmp_path, "trunk", TRUNK)


@pytest.mark.parametrize(
    ("changes", "shape", "match"), [({"max_steps": 20}, SHAPE, "after 15 steps"), ({}, FULL, "no state of this model")]
)
def test_a_state_of_another_step_or_model_is_refused(tmp_path, trunk, changes, shape, match):
    with pytest.raises(UserError, match=match):
        learn(tmp_path, "other", {**STABLE, **changes}, trunk.state(30), shape)


def test_a_trunk_that_stalls_before_its_last_state_names_the_key(tmp_path):
    still = {"learning_rate": 1e-30, "weight_decay": 0.0, "patience": 1}
    with pytest.raises(UserError, match=r"training\.patience: 1 evaluations at step .*raise training\.patience"):
        learn(tmp_path, "still", {**TRUNK, **still})


def test_as_tasks_the_states_are_outputs_that_a_branch_checks(tmp_path):
    """A branch reads the state where its own decay begins, of a trunk with its seed and text; both folders can go."""
    trunk = make_task(tmp_path, "trunk", **{key: TRUNK[key] for key in TRUNK})
    states = tmp_path / "trunk/states"
    trunk = type(trunk)(**{**vars(trunk), "states": str(states)})
    perform(trunk, Group())
    assert sorted(path.name for path in states.iterdir()) == ["00000015.safetensors", "00000030.safetensors"]
    alone = make_task(tmp_path, "alone", **STABLE)
    branch = type(alone)(**{**vars(make_task(tmp_path, "branch", **STABLE)), "start": str(states)})
    for task in (alone, branch):
        perform(task, Group())
    assert same_bits(alone.weights, branch.weights)
    histories = [read_table(task.history).to_pylist() for task in (alone, branch)]
    assert histories[0] == histories[1]
    assert load_metadata(branch.weights)["training"] != load_metadata(trunk.weights)["training"]
    of_other_seed = {**branch.settings, "seed": 2}
    changed = {"model": "other", "settings": of_other_seed, "weights": str(tmp_path / "other/weights")}
    other = type(branch)(**{**vars(branch), **changed})
    with pytest.raises(UserError, match="no state of this model"):
        perform(other, Group())
    for task in (trunk, branch):
        folder = folder_of(task)
        discard(task.checkpoints, task.weights)
        assert not folder.path.exists()
    assert load_tensors(states / "00000030.safetensors")[0]
