"""Training: the schedule, the convergence rule, and a resume that equals an uninterrupted run to the bit."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from small_training import FULL, SETTINGS, SHAPE, TEXT, kept, run, same_bits
from waiting import wait_for

from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.head_gradient import best_approximation
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_model, load_tensors
from oversmoothing.training.batches import prefetch, training_batch
from oversmoothing.training.checkpoint import Checkpoints, Progress
from oversmoothing.training.group import Group
from oversmoothing.training.launch import SCRIPTS
from oversmoothing.training.loop import record_evaluation, snapshot_steps
from oversmoothing.training.optimiser import build_optimiser, head_rates
from oversmoothing.training.schedule import learning_rate
from oversmoothing.training.step import Step, validation_loss


def first_step(shape=FULL, **changes):
    return Step(GPT(GPTConfig(**shape), 0), {**SETTINGS, **changes}, 0, "float32", Group())


def test_learns_and_keeps_the_best_weights_and_those_at_powers_of_two(tmp_path):
    progress, checkpoints = run(tmp_path)
    losses = [row["validation_loss"] for row in progress.history]
    assert [row["step"] for row in progress.history] == [0, 10, 20, 30, 40]
    assert losses[0] == pytest.approx(np.log(256), abs=0.05)
    assert losses[-1] < 4.5
    assert progress.history[0]["train_loss"] is None
    assert progress.history[-1]["bytes"] == 40 * 2 * 2 * 24
    best = load_model(checkpoints.folder.best)
    assert validation_loss(best, TEXT[:500], SETTINGS, "float32") == min(losses)
    assert kept(checkpoints) == [0, 1, 2, 4, 8, 16, 32] == sorted(snapshot_steps(SETTINGS))
    assert snapshot_steps({**SETTINGS, "snapshots": False}) == set()
    assert sorted(snapshot_steps({**SETTINGS, "snapshots": 15})) == [0, 1, 2, 4, 8, 15, 16, 30, 32]
    first = load_model(checkpoints.folder.snapshot(0))
    assert torch.equal(first.head.weight, GPT(GPTConfig(**SHAPE), 1).head.weight)


def test_stops_when_the_validation_loss_has_not_improved_in_patience_evaluations():
    progress = Progress()
    for step, loss in enumerate([3.0, 2.0, 2.5, 2.0, 1.9, 2.2, 2.1]):
        progress.step = step
        record_evaluation(progress, loss, SETTINGS, 1)
    assert (progress.best_loss, progress.best_step, progress.stale) == (1.9, 4, 2)


def test_converges_before_the_limit_of_steps(tmp_path):
    """With a learning rate of almost nothing only rounding improves the loss; patience ends it."""
    progress, _ = run(
        tmp_path, {"learning_rate": 1e-30, "minimum_learning_rate": 0.0, "weight_decay": 0.0, "patience": 2}
    )
    assert (progress.step, progress.stale) == (20, 2)


def test_a_loss_that_is_no_number_and_a_split_shorter_than_a_block(tmp_path):
    with pytest.raises(UserError, match=r"not a number at step 0.*lower training.learning_rate"):
        record_evaluation(Progress(), float("nan"), SETTINGS, 1)
    with pytest.raises(UserError, match="training split has 24 bytes, which is not more than block: 24"):
        run(tmp_path, text=TEXT[:24])


def test_learning_rate_warms_up_and_falls_on_a_cosine_or_a_line():
    rates = [learning_rate(step, SETTINGS) for step in range(41)]
    assert rates[0] == pytest.approx(0.002)
    assert max(rates) == rates[4] == pytest.approx(SETTINGS["learning_rate"])
    assert rates[22] == pytest.approx((0.01 + 0.001) / 2)
    assert rates[40] == SETTINGS["minimum_learning_rate"]
    assert sorted(rates[4:], reverse=True) == rates[4:]
    rates = [learning_rate(step, {**SETTINGS, "decay": "linear", "minimum_learning_rate": 0.0}) for step in range(41)]
    assert rates[4:] == pytest.approx([0.01 * left / 36 for left in range(36, -1, -1)])


def test_the_head_behind_a_narrow_bottleneck_learns_faster():
    """Width / rank times as fast, with the same decay of its weights per step."""
    for rank, factor in ((4, 4.0), (16, 1.0), (None, 1.0)):
        model = GPT(GPTConfig(**{**SHAPE, "rank": rank}))
        assert head_rates(model, SETTINGS) == {"head.weight": 1.0}
        assert head_rates(model, {**SETTINGS, "head_rate": "scaled"}) == {"head.weight": factor}
    of_output = GPT(GPTConfig(**SHAPE, output="two_layer"))
    assert head_rates(of_output, {**SETTINGS, "head_rate": "scaled"}) == {"head.weight": 1.0, "output.into": 4.0}
    step = first_step(SHAPE, head_rate="scaled")
    before = {name: weight.detach().clone() for name, weight in step.model.named_parameters()}
    for done in range(3):
        step.take(step.draw(TEXT, done), done)
    last = learning_rate(2, SETTINGS)
    groups = step.optimiser.param_groups
    assert [group["lr"] / last for group in groups] == pytest.approx([1.0, 1.0, 4.0])
    assert [group["lr"] * group["weight_decay"] / last for group in groups] == pytest.approx([0.1, 0.0, 0.1])
    assert groups[2]["params"] == [step.model.head.weight]
    moved = {name: (weight - before[name]).abs().mean().item() for name, weight in step.model.named_parameters()}
    assert 2 < moved["head.weight"] / moved["bottleneck.weight"] < 8  # AdamW moves a weight by about its rate


def test_a_batch_is_a_function_of_seed_and_step():
    def draw(seed, step):
        return training_batch(TEXT, seed, step, 2, 3, 24)

    assert draw(1, 7).shape == (2, 3, 25)
    assert torch.equal(draw(1, 7), draw(1, 7))
    assert not torch.equal(draw(1, 7), draw(1, 8))
    assert not torch.equal(draw(1, 7), draw(2, 7))
    sums = [draw(seed, 8 - seed) for seed in range(9)]  # a seed is no offset of the steps
    assert not any(torch.equal(*pair) for pair in itertools.combinations(sums, 2))
    assert not torch.equal(*draw(1, 7))


def test_prefetched_batches_are_the_same_in_order_and_few_wait():
    drawn = []

    def draw(step):
        drawn.append(step)
        return torch.tensor([step])

    batches = prefetch(draw, range(5, 60), torch.device("cpu"))
    assert [int(next(batches)) for _ in range(10)] == list(range(5, 15))
    batches.close()
    assert drawn == list(range(5, 5 + len(drawn)))
    assert len(drawn) <= 10 + 4
    with pytest.raises(ZeroDivisionError):
        list(prefetch(lambda step: torch.tensor(1 // (3 - step)), range(5), torch.device("cpu")))


def start(folder, changes, precision):
    """Train in another process."""
    code = f"""import sys; sys.path[:0] = {[str(SCRIPTS), str(Path(__file__).parents[1])]}
from small_training import run
run({str(folder)!r}, {changes}, precision={precision!r})"""
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("kill", "precision"),
    [
        pytest.param(signal.SIGKILL, "float32", marks=pytest.mark.slow),
        (signal.SIGKILL, "bf16"),
        (signal.SIGTERM, "float32"),
        pytest.param(signal.SIGINT, "float32", marks=pytest.mark.slow),
    ],
)
def test_a_killed_training_resumes_to_the_same_bits(tmp_path, kill, precision):
    """Kill a training wherever it happens to be; weights, snapshots and history equal a straight run's."""
    longer = {"max_steps": 240, "evaluation_interval": 24, "patience": 50}
    straight, reference = run(tmp_path / "straight", longer, precision=precision)
    folder = tmp_path / "killed"
    resume = tmp_path / "killed-k" / "resume.safetensors"
    process = start(folder, longer, precision)
    wait_for(resume.exists, process)
    time.sleep(0.05)
    os.kill(process.pid, kill)
    error = process.communicate()[1]
    assert process.returncode != 0
    if kill != signal.SIGKILL:
        assert f"UserError: killed: stopped by {kill.name} at step" in error
    step = json.loads(load_tensors(resume)[1]["progress"])["step"]
    assert 0 < step < 240, "the kill came too late to test anything"
    progress, checkpoints = run(folder, longer, precision=precision)
    assert progress.history == straight.history
    assert same_bits(checkpoints.folder.best, reference.folder.best)
    assert kept(checkpoints) == kept(reference)
    for step in kept(reference):
        assert same_bits(checkpoints.folder.snapshot(step), reference.folder.snapshot(step)), step


MIXTURE, MONOTONE = ({**SHAPE, "output": kind} for kind in ("mos2", "monotone"))
BETWEEN = {"backward_rank": 2, "backward_interval": 7}  # it stops between two approximations, which are kept


@pytest.mark.parametrize(
    ("precision", "arm", "shape"),
    [("float32", BETWEEN, FULL), ("bf16", {}, MIXTURE), ("bf16", {}, MONOTONE)],
    ids=str,
)
def test_a_stopped_training_of_an_arm_resumes_to_the_same_bits(tmp_path, precision, arm, shape):
    def stop_at_the_fourth_evaluation(progress, *rest):
        if progress.step >= 30:
            raise KeyboardInterrupt
        record_evaluation(progress, *rest)

    straight, reference = run(tmp_path / "straight", arm, shape=shape, precision=precision)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("oversmoothing.training.loop.record_evaluation", stop_at_the_fourth_evaluation)
        run(tmp_path / "stopped", arm, shape=shape, precision=precision)
    again, checkpoints = run(tmp_path / "stopped", arm, shape=shape, precision=precision)
    assert again.history == straight.history
    assert same_bits(checkpoints.folder.best, reference.folder.best)


def test_a_backward_rank_of_the_whole_head_is_ordinary_training_to_the_bit(tmp_path):
    ordinary, one = run(tmp_path / "a", shape=FULL)
    for rank in (16, 200):
        _, other = run(tmp_path / str(rank), {"backward_rank": rank}, shape=FULL)
        assert same_bits(one.folder.best, other.folder.best)
    low, _ = run(tmp_path / "c", {"backward_rank": 2}, shape=FULL)
    assert low.history[0]["validation_loss"] == ordinary.history[0]["validation_loss"]
    assert low.history[-1]["validation_loss"] != ordinary.history[-1]["validation_loss"]


def test_a_model_with_more_classes_starts_from_the_weights_of_one_of_bytes():
    small = GPT(GPTConfig(**FULL), 3, "fan_in").state_dict()
    large = GPT(GPTConfig(**{**FULL, "vocabulary": 300}), 3, "fan_in").state_dict()
    assert all(torch.equal(value, large[name][: len(value)]) for name, value in small.items())
    assert large["head.weight"][256:].std() == pytest.approx(1 / 4, rel=0.1)
    assert large["embedding.weight"][256:].std() == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize("interval", [1, 3])
def test_a_backward_rank_follows_the_head(interval):
    """The approximation is that of the head as it is, or as it was at the last multiple of the interval."""
    step = first_step(backward_rank=2, backward_interval=interval)
    heads = []
    for i in range(5):
        heads.append(step.model.head.weight.detach().clone())
        step.take(step.draw(TEXT, i), i)
        assert torch.equal(step.model.backward_head, best_approximation(heads[i - i % interval], 2))
    with pytest.raises(UserError, match=r"training\.backward_rank: 2 needs a linear head, not output: mos2; leave one"):
        first_step(MIXTURE, backward_rank=2)


def test_a_checkpoint_of_other_settings_is_neither_used_nor_touched(tmp_path, caplog):
    first, one = run(tmp_path / "a", key="0" * 64)
    before = {path: path.read_bytes() for path in one.folder.path.rglob("*.safetensors")}
    again, two = run(tmp_path / "a", {"max_steps": 10}, key="1" * 64)
    assert (first.step, again.step) == (40, 10)
    assert kept(two)[-1] == 8
    assert {path: path.read_bytes() for path in one.folder.path.rglob("*.safetensors")} == before
    assert f"{tmp_path}/a-00000000: of other settings, code, data or packages; delete it if nobody" in caplog.text
    with pytest.raises(UserError, match=r"a-00000000: a checkpoint of another training; move it away"):
        run(tmp_path / "a", key="0" * 8 + "2" * 56)
    assert {path: path.read_bytes() for path in one.folder.path.rglob("*.safetensors")} == before


def test_a_damaged_checkpoint_is_named(tmp_path):
    _, checkpoints = run(tmp_path / "a")
    resume = checkpoints.folder.resume
    resume.write_bytes(resume.read_bytes()[:100])
    with pytest.raises(UserError, match=r"resume.safetensors: not a complete safetensors file .* delete it"):
        run(tmp_path / "a")
    resume.unlink()  # as it says
    run(tmp_path / "a")


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """A training that was stopped after its twelfth step."""

    def take(self, sequences, step):
        if step == 11:
            os.kill(os.getpid(), signal.SIGTERM)
        return original(self, sequences, step)

    original = Step.take
    with monkeypatch.context() as patch:
        patch.setattr(Step, "take", take)
        with pytest.raises(UserError, match="a: stopped by SIGTERM at step 12; the state is saved, run again to go on"):
            run(tmp_path / "a")
    return Checkpoints(tmp_path / "a", "k", interval=5)


def of_another_training(path, _):
    """Put whole weights of the same shape there, which would become this model's."""
    Checkpoints(path.parents[2] / "other", "another", interval=5).keep(path, GPT(GPTConfig(**SHAPE), 2), 4)


def of_another_step(path, stopped):
    stopped.keep(path, GPT(GPTConfig(**SHAPE), 1), 8)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("best", lambda path, _: path.unlink()),
        ("best", of_another_training),
        ("snapshots/00000004", lambda path, _: path.write_bytes(path.read_bytes()[:-100])),
        ("snapshots/00000004", of_another_step),
    ],
)
def test_what_no_later_step_would_write_is_missed_at_once(tmp_path, name, damage, stopped):
    path = stopped.folder.path / f"{name}.safetensors"
    damage(path, stopped)
    refused = rf"{name}.safetensors: missing or damaged, .*; delete {stopped.folder.path} to"
    with pytest.raises(UserError, match=refused):
        run(tmp_path / "a")
    shutil.rmtree(stopped.folder.path)  # as it says
    run(tmp_path / "a")
    assert path.exists()


def test_what_is_saved_when_it_is_stopped_is_the_step_it_was_stopped_at(tmp_path, stopped, caplog):
    assert json.loads(load_tensors(stopped.folder.resume)[1]["progress"])["step"] == 12
    of_another_step(stopped.folder.best, stopped)  # the best weights may be of a later step than the checkpoint
    caplog.set_level("INFO")
    run(tmp_path / "a")
    assert "resuming at step 12" in caplog.text


def test_a_training_that_has_ended_takes_no_step_again(tmp_path, monkeypatch):
    progress, checkpoints = run(tmp_path / "a")
    assert not load_tensors(checkpoints.folder.resume)[0], "all but the best weights and the snapshots is dropped"
    monkeypatch.setattr(Step, "take", None)
    again, _ = run(tmp_path / "a")
    assert again == progress
    assert again.finished


def test_a_process_that_was_replaced_saves_nothing(tmp_path):
    """Neither on its way nor at its end; the other's file stays as it is."""
    _, checkpoints = run(tmp_path / "a")
    before = checkpoints.folder.resume.read_bytes()
    model = GPT(GPTConfig(**SHAPE))
    saves = (
        lambda: checkpoints.save(model, build_optimiser(model, SETTINGS), Progress()),
        lambda: checkpoints.finish(Progress()),
    )
    with checkpoints.lock():
        (checkpoints.folder.path / "owner").write_text("elsewhere process 7 abc")
        for save in saves:
            with pytest.raises(UserError, match=r"\(elsewhere process 7\) has taken this training over"):
                save()
    assert checkpoints.folder.resume.read_bytes() == before
