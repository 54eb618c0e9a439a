"""Training: the schedule, the convergence rule, and a resume that equals an uninterrupted run to the bit."""

import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from oversmoothing.jobs import UserError
from oversmoothing.models.head_gradient import best_approximation
from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.models.weights import load_model, load_tensors
from oversmoothing.training.batches import inputs_and_targets, prefetch, training_batch, validation_batches
from oversmoothing.training.checkpoint import Checkpoints, Progress
from oversmoothing.training.folder import Folder, training_key, training_packages
from oversmoothing.training.group import Group
from oversmoothing.training.loop import record_evaluation, snapshot_steps, train
from oversmoothing.training.optimiser import build_optimiser, head_rate, learning_rate
from oversmoothing.training.step import Step, validation_loss
from oversmoothing.training.task import Task

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
TEXT = np.frombuffer(b"the cat sat on the mat and the dog sat on the cat. " * 80, np.uint8)
SETTINGS = {
    "initial": "gpt2",
    "head_rate": "same",
    "head_gradient": "whole",
    "backward_rank": None,
    "backward_interval": 1,
    "decay": "cosine",
    "batch": 2,
    "accumulation": 2,
    "max_steps": 40,
    "learning_rate": 0.01,
    "minimum_learning_rate": 0.001,
    "warmup_steps": 4,
    "weight_decay": 0.1,
    "betas": [0.9, 0.95],
    "clip": 1.0,
    "evaluation_interval": 10,
    "evaluation_batches": 2,
    "patience": 5,
    "snapshots": True,
    "precision": "float32",
    "compile": False,
    "threads": 1,
}
SHAPE = {"layers": 1, "heads": 2, "width": 16, "block": 24, "rank": 4, "dropout": 0.1}


def run(folder, settings=SETTINGS, key="k", shape=SHAPE, text=TEXT, precision="float32"):
    torch.set_num_threads(1)
    checkpoints = Checkpoints(folder, key, interval=5)
    with checkpoints.lock():
        progress = train(GPT(GPTConfig(**shape), 1), text, text[:500], settings, 1, precision, checkpoints)
    return progress, checkpoints


def make_task(where, name, shape=SHAPE, **changes):
    """Describe a training on the text above, which is written where it is not there yet."""
    splits = {}
    for split, data in (("train", TEXT), ("validation", TEXT[:500])):
        if not (where / f"{split}.bin").exists():
            (where / f"{split}.bin").write_bytes(data.tobytes())
        splits[split] = {"bytes": len(data), "sha256": hashlib.sha256(data.tobytes()).hexdigest()}
    (where / "manifest.json").write_text(json.dumps({"splits": splits}))
    out = where / name
    return Task(
        model=name,
        settings={"model": shape, "training": {**SETTINGS, **changes}, "seed": 1},
        device="cpu",
        code="code",
        checkpoints=str(where / "checkpoints" / name),
        interval=5,
        training=str(where / "train.bin"),
        validation=str(where / "validation.bin"),
        manifest=str(where / "manifest.json"),
        weights=str(out / "weights.safetensors"),
        history=str(out / "history.parquet"),
        snapshots=str(out / "snapshots"),
        log=str(where / f"{name}.log"),
    )


def key(task):
    return training_key(task.settings, task.code, json.loads(Path(task.manifest).read_text()), training_packages())


def folder(task):
    return Folder.of(task.checkpoints, key(task))


def kept(checkpoints):
    return [int(path.name.split(".")[0]) for path in sorted((checkpoints.folder.path / "snapshots").iterdir())]


def test_learns_and_keeps_the_best_weights(tmp_path):
    progress, checkpoints = run(tmp_path)
    losses = [row["validation_loss"] for row in progress.history]
    assert [row["step"] for row in progress.history] == [0, 10, 20, 30, 40]
    assert losses[0] == pytest.approx(np.log(256), abs=0.05)
    assert losses[-1] < 4.5
    assert progress.history[0]["train_loss"] is None
    assert progress.history[-1]["bytes"] == 40 * 2 * 2 * 24
    best = load_model(checkpoints.folder.best)
    assert validation_loss(best, TEXT[:500], SETTINGS, "float32") == min(losses)


def test_snapshots_lie_at_powers_of_two(tmp_path):
    _, checkpoints = run(tmp_path)
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
    settings = {**SETTINGS, "learning_rate": 1e-30, "minimum_learning_rate": 0.0, "patience": 2}
    progress, _ = run(tmp_path, {**settings, "weight_decay": 0.0})
    assert progress.step == 20
    assert progress.stale == 2


def test_a_loss_that_is_no_number_stops_with_advice():
    with pytest.raises(UserError, match=r"not a number at step 0.*lower training.learning_rate"):
        record_evaluation(Progress(), float("nan"), SETTINGS, 1)


def test_a_split_shorter_than_a_block(tmp_path):
    with pytest.raises(UserError, match="training split has 24 bytes, which is not more than block: 24"):
        run(tmp_path, text=TEXT[:24])


def test_learning_rate_warms_up_and_falls_on_a_cosine():
    rates = [learning_rate(step, SETTINGS) for step in range(41)]
    assert rates[0] == pytest.approx(0.002)
    assert max(rates) == rates[4] == pytest.approx(SETTINGS["learning_rate"])
    assert rates[22] == pytest.approx((0.01 + 0.001) / 2)
    assert rates[40] == SETTINGS["minimum_learning_rate"]
    assert sorted(rates[4:], reverse=True) == rates[4:]


def test_learning_rate_falls_on_a_line():
    rates = [learning_rate(step, {**SETTINGS, "decay": "linear", "minimum_learning_rate": 0.0}) for step in range(41)]
    assert rates[4] == pytest.approx(0.01)
    assert rates[4:] == pytest.approx([0.01 * left / 36 for left in range(36, -1, -1)])


def test_the_head_behind_a_narrow_bottleneck_learns_faster():
    """Width / rank times as fast, with the same decay of its weights per step."""
    for rank, factor in ((4, 4.0), (16, 1.0), (None, 1.0)):
        model = GPT(GPTConfig(**{**SHAPE, "rank": rank}))
        assert head_rate(model.config, SETTINGS) == 1.0
        assert head_rate(model.config, {**SETTINGS, "head_rate": "scaled"}) == factor
    model = GPT(GPTConfig(**{**SHAPE, "rank": 4}))
    step = Step(model, {**SETTINGS, "head_rate": "scaled"}, 0, "float32", Group())
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    for done in range(3):
        step.take(step.draw(TEXT, done), done)
    last = learning_rate(2, SETTINGS)
    groups = step.optimiser.param_groups
    assert [group["lr"] / last for group in groups] == pytest.approx([1.0, 1.0, 4.0])
    assert [group["lr"] * group["weight_decay"] / last for group in groups] == pytest.approx([0.1, 0.0, 0.1])
    assert groups[2]["params"] == [model.head.weight]
    moved = {name: (weight - before[name]).abs().mean().item() for name, weight in model.named_parameters()}
    assert 2 < moved["head.weight"] / moved["bottleneck.weight"] < 8  # AdamW moves a weight by about its rate


def test_only_matrices_decay():
    groups = build_optimiser(GPT(GPTConfig(**SHAPE)), SETTINGS).param_groups
    assert [group["weight_decay"] for group in groups] == [0.1, 0.0]
    assert all(parameter.dim() == 2 for parameter in groups[0]["params"])
    assert len(groups[1]["params"]) == 3  # two norms in the block and the last one


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


def test_an_error_while_prefetching_comes_out():
    with pytest.raises(ZeroDivisionError):
        list(prefetch(lambda step: torch.tensor(1 // (3 - step)), range(5), torch.device("cpu")))


def test_targets_are_the_bytes_that_follow():
    for batch in validation_batches(TEXT, 3, 2, 24):
        inputs, targets = inputs_and_targets(batch)
        assert inputs.shape == targets.shape == (2, 24)
        assert torch.equal(inputs[:, 1:], targets[:, :-1])


def test_accumulated_batches_equal_one_large_batch(tmp_path):
    """The gradient of two micro-batches of two is that of one batch of the same four sequences."""
    shape = {**SHAPE, "dropout": 0.0}
    split, _ = run(tmp_path / "a", shape=shape)
    whole, _ = run(tmp_path / "b", {**SETTINGS, "accumulation": 1, "batch": 4, "evaluation_batches": 1}, shape=shape)
    for a, b in zip(split.history, whole.history, strict=True):
        assert a["validation_loss"] == pytest.approx(b["validation_loss"], abs=1e-3)


RUNNER = """
    import sys
    sys.path.insert(0, {scripts!r}); sys.path.insert(0, {tests!r})
    from test_training import run
    run({folder!r}, {settings!r}, precision={precision!r})
"""


def start(folder, settings, precision):
    code = textwrap.dedent(RUNNER).format(
        scripts=str(SCRIPTS),
        tests=str(Path(__file__).parent),
        folder=str(folder),
        settings=settings,
        precision=precision,
    )
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)


def wait_for(path, process, mtime=0):
    limit = time.monotonic() + 300
    while not (path.exists() and path.stat().st_mtime_ns > mtime):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < limit
        time.sleep(0.002)


def same_bits(left, right):
    a, b = load_tensors(left)[0], load_tensors(right)[0]
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


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
    """Kill a training twice, wherever it happens to be; weights, snapshots and history equal a straight run's."""
    settings = {**SETTINGS, "max_steps": 400, "evaluation_interval": 40, "patience": 50}
    straight, reference = run(tmp_path / "straight", settings, precision=precision)
    folder = tmp_path / "killed"
    resume = tmp_path / "killed-k" / "resume.safetensors"
    for _ in range(2):
        before = resume.stat().st_mtime_ns if resume.exists() else 0
        process = start(folder, settings, precision)
        wait_for(resume, process, before)
        time.sleep(0.05)
        os.kill(process.pid, kill)
        error = process.communicate()[1]
        assert process.returncode != 0
        if kill != signal.SIGKILL:
            assert f"UserError: killed: stopped by {kill.name} at step" in error
    step = json.loads(load_tensors(resume)[1]["progress"])["step"]
    assert 0 < step < 400, "the kill came too late to test anything"
    progress, checkpoints = run(folder, settings, precision=precision)
    assert progress.history == straight.history
    assert same_bits(checkpoints.folder.best, reference.folder.best)
    assert kept(checkpoints) == kept(reference)
    for step in kept(reference):
        assert same_bits(checkpoints.folder.snapshot(step), reference.folder.snapshot(step)), step


FULL = {**SHAPE, "rank": None}


ARMS = [
    {"backward_rank": 2},
    {"backward_rank": 2, "backward_interval": 7},  # it stops between two approximations, which the checkpoint keeps
    {"head_gradient": "inside"},
]


@pytest.mark.parametrize("precision", ["float32", "bf16"])
@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_a_stopped_training_of_an_arm_resumes_to_the_same_bits(tmp_path, precision, arm):
    settings = {**SETTINGS, **arm}
    straight, reference = run(tmp_path / "straight", settings, shape=FULL, precision=precision)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oversmoothing.training.loop.record_evaluation", stop_after(30))
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "stopped", settings, shape=FULL, precision=precision)
    again, checkpoints = run(tmp_path / "stopped", settings, shape=FULL, precision=precision)
    assert again.history == straight.history
    assert same_bits(checkpoints.folder.best, reference.folder.best)


def stop_after(step):
    """Return a `record_evaluation` that is interrupted once it is called with a later step."""

    def record(progress, *rest):
        if progress.step >= step:
            raise KeyboardInterrupt
        record_evaluation(progress, *rest)

    return record


def test_a_backward_rank_of_the_whole_head_is_ordinary_training_to_the_bit(tmp_path):
    ordinary, one = run(tmp_path / "a", SETTINGS, shape=FULL)
    for i, rank in enumerate((16, 200)):
        whole, other = run(tmp_path / f"b{i}", {**SETTINGS, "backward_rank": rank}, shape=FULL)
        assert whole.history == ordinary.history
        assert same_bits(one.folder.best, other.folder.best)
    low, _ = run(tmp_path / "c", {**SETTINGS, "backward_rank": 2}, shape=FULL)
    assert low.history[0]["validation_loss"] == ordinary.history[0]["validation_loss"]
    assert low.history[-1]["validation_loss"] != ordinary.history[-1]["validation_loss"]


def test_an_update_inside_the_column_space_leaves_the_trunks_gradient_as_it_is(tmp_path):
    ordinary, _ = run(tmp_path / "a", SETTINGS, shape=FULL)
    inside, _ = run(tmp_path / "b", {**SETTINGS, "head_gradient": "inside"}, shape=FULL)
    assert inside.history[0]["validation_loss"] == ordinary.history[0]["validation_loss"]
    assert inside.history[-1]["validation_loss"] > ordinary.history[-1]["validation_loss"]
    gradients = {}
    for kind in ("whole", "inside"):
        step = Step(GPT(GPTConfig(**FULL), 0), {**SETTINGS, "head_gradient": kind, "clip": 1e9}, 0, "float32", Group())
        step.optimiser.zero_grad = lambda **_: None
        step.take(step.draw(TEXT, 0), 0)
        gradients[kind] = {name: own.grad for name, own in step.model.named_parameters()}
    for name, own in gradients["whole"].items():
        assert torch.equal(own, gradients["inside"][name]) != (name == "head.weight")


def test_unused_classes_learn_to_have_no_probability(tmp_path):
    progress, checkpoints = run(tmp_path, shape={**FULL, "vocabulary": 300})
    model = load_model(checkpoints.folder.best)
    assert model.head.weight.shape == (300, 16)
    assert progress.history[-1]["validation_loss"] < progress.history[0]["validation_loss"] - 0.5
    tokens = torch.from_numpy(TEXT[:24].astype(np.int64))[None]
    with torch.no_grad():
        assert model(tokens).softmax(-1)[..., 256:].sum(-1).max() < 44 / 300


def test_a_backward_rank_follows_the_head(tmp_path):
    """The approximation is that of the head as it is, or as it was at the last multiple of the interval."""
    for interval in (1, 3):
        settings = {**SETTINGS, "backward_rank": 2, "backward_interval": interval}
        step = Step(GPT(GPTConfig(**FULL), 0), settings, 0, "float32", Group())
        heads = []
        for i in range(5):
            heads.append(step.model.head.weight.detach().clone())
            step.take(step.draw(TEXT, i), i)
            expected = best_approximation(heads[i - i % interval], 2)
            assert torch.equal(step.model.backward_head, expected)


def test_a_checkpoint_of_other_settings_is_neither_used_nor_touched(tmp_path, caplog):
    first, one = run(tmp_path / "a", key="0" * 64)
    before = {path: path.read_bytes() for path in one.folder.path.rglob("*.safetensors")}
    again, two = run(tmp_path / "a", {**SETTINGS, "max_steps": 10}, key="1" * 64)
    assert first.step == 40
    assert again.step == 10
    assert kept(two)[-1] == 8
    assert {path: path.read_bytes() for path in one.folder.path.rglob("*.safetensors")} == before
    assert f"{tmp_path}/a-00000000: of other settings, code, data or packages; delete it if nobody" in caplog.text
    with pytest.raises(UserError, match=r"a-00000000: a checkpoint of another training; move it away"):
        run(tmp_path / "a", key="0" * 8 + "2" * 56)
    assert {path: path.read_bytes() for path in one.folder.path.rglob("*.safetensors")} == before


def test_two_processes_never_train_one_model(tmp_path):
    checkpoints = Checkpoints(tmp_path, "k", interval=5)
    code = (
        f"import sys; sys.path.insert(0, {str(SCRIPTS)!r})\n"
        "from oversmoothing.training.checkpoint import Checkpoints\n"
        f"with Checkpoints({str(tmp_path)!r}, 'k', 5).lock(): pass"
    )
    with checkpoints.lock():
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert other.returncode == 1
    assert re.search(r"another process \(.*\) is training this model", other.stderr)


def test_a_damaged_checkpoint_is_named(tmp_path):
    _, checkpoints = run(tmp_path / "a")
    resume = checkpoints.folder.resume
    resume.write_bytes(resume.read_bytes()[:100])
    with pytest.raises(UserError, match=r"resume.safetensors: not a complete safetensors file .* delete it"):
        run(tmp_path / "a")
    resume.unlink()  # as it says
    run(tmp_path / "a")


@pytest.mark.parametrize("name", ["best", "snapshots/00000004"])
@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-100])])
def test_what_no_later_step_would_write_is_missed_at_once(tmp_path, name, damage, stopped):
    path = stopped.folder.path / f"{name}.safetensors"
    damage(path)
    with pytest.raises(
        UserError, match=rf"{name}.safetensors: missing or damaged, .*; delete {stopped.folder.path} to"
    ):
        run(tmp_path / "a")
    shutil.rmtree(stopped.folder.path)  # as it says
    run(tmp_path / "a")
    assert path.exists()


@pytest.mark.parametrize("name", ["best", "snapshots/00000004"])
def test_weights_of_another_training_or_step_are_missed_at_once(tmp_path, name, stopped):
    """Both are whole, of the same shape, and would have become this model's."""
    path = stopped.folder.path / f"{name}.safetensors"
    other = Checkpoints(tmp_path / "other", "another", interval=5)
    other.keep(path, GPT(GPTConfig(**SHAPE), 2), 4)
    refused = rf"{name}.safetensors: missing or damaged, .*; delete {stopped.folder.path} to"
    with pytest.raises(UserError, match=refused):
        run(tmp_path / "a")
    stopped.keep(path, GPT(GPTConfig(**SHAPE), 1), 8)
    if name == "best":  # may be of a later step than the checkpoint
        run(tmp_path / "a")
    else:
        with pytest.raises(UserError, match=refused):
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


def test_what_is_saved_when_it_is_stopped_is_the_step_it_was_stopped_at(tmp_path, stopped, caplog):
    assert json.loads(load_tensors(stopped.folder.resume)[1]["progress"])["step"] == 12
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
    with checkpoints.lock():
        (checkpoints.folder.path / "owner").write_text("elsewhere process 7 abc")
        for save in (
            lambda: checkpoints.save(model, build_optimiser(model, SETTINGS), Progress()),
            lambda: checkpoints.finish(Progress()),
        ):
            with pytest.raises(UserError, match=r"\(elsewhere process 7\) has taken this training over"):
                save()
    assert checkpoints.folder.resume.read_bytes() == before
