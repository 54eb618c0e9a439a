"""Several processes train one model: the same losses as one, no shared masks, one clear error, an exact resume."""

import hashlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from test_training import SETTINGS, SHAPE, TEXT, same_bits

from oversmoothing.jobs import UserError
from oversmoothing.model import GPT, GPTConfig
from oversmoothing.store.parquet import read_table
from oversmoothing.training.batches import dropout_seed, share_of, training_batch
from oversmoothing.training.checkpoint import Checkpoints
from oversmoothing.training.group import Group
from oversmoothing.training.launch import SCRIPTS, failure, launch
from oversmoothing.training.step import Step
from oversmoothing.training.task import Task
from oversmoothing.weights import load_metadata, load_model, load_tensors


@pytest.fixture(autouse=True)
def threads():
    """A training in this process sets the number of threads."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def task(tmp_path):
    """Give a maker of tasks on the same small corpus."""
    splits = {}
    for name, data in (("train", TEXT), ("validation", TEXT[:500])):
        (tmp_path / f"{name}.bin").write_bytes(data.tobytes())
        splits[name] = {"bytes": len(data), "sha256": hashlib.sha256(data.tobytes()).hexdigest()}
    (tmp_path / "manifest.json").write_text(json.dumps({"splits": splits}))

    def make(name, shape=SHAPE, **changes):
        out = tmp_path / name
        return Task(
            model=name,
            settings={"model": shape, "training": {**SETTINGS, **changes}, "seed": 1},
            device="cpu",
            code="code",
            checkpoints=str(tmp_path / "checkpoints" / name),
            interval=5,
            training=str(tmp_path / "train.bin"),
            validation=str(tmp_path / "validation.bin"),
            manifest=str(tmp_path / "manifest.json"),
            weights=str(out / "weights.safetensors"),
            history=str(out / "history.parquet"),
            snapshots=str(out / "snapshots"),
            log=str(tmp_path / f"{name}.log"),
        )

    return make


@pytest.mark.parametrize(
    ("accumulation", "batch"), [(2, 2), (1, 4)], ids=["each its micro-batches", "each its sequences of one"]
)
def test_two_processes_have_the_losses_of_one(task, accumulation, batch):
    changes = {"shape": {**SHAPE, "dropout": 0.0}, "accumulation": accumulation, "batch": batch}
    launch(task("one", **changes), 1)
    launch(task("two", **changes), 2)
    one, two = (read_table(task(name).history).to_pandas() for name in ("one", "two"))
    assert one.step.tolist() == two.step.tolist() == [0, 10, 20, 30, 40]
    assert one.train_loss.iloc[-1] < one.train_loss.iloc[1] - 0.5
    np.testing.assert_allclose(two.train_loss[1:], one.train_loss[1:], atol=1e-4)
    np.testing.assert_allclose(two.validation_loss, one.validation_loss, atol=1e-4)
    assert load_metadata(task("two").weights)["processes"] == "2"
    load_model(task("two").weights)


def test_slices_make_up_the_global_batch():
    whole = training_batch(TEXT, 1, 7, 4, 6, 24)
    for accumulation, batch, processes in ((4, 6, 2), (4, 6, 4), (3, 6, 2)):
        shares = [share_of(accumulation, batch, rank, processes) for rank in range(processes)]
        parts = [whole[list(share.micros), share.rows] for share in shares]
        assert len({part.shape for part in parts}) == 1
        rows = {bytes(row.numpy()) for part in parts for row in part.flatten(0, 1)}
        assert rows == {bytes(row.numpy()) for row in whole[:accumulation].flatten(0, 1)}
    with pytest.raises(UserError, match=r"training.processes: 5 divides neither training.accumulation, 4, nor .* 6"):
        share_of(4, 6, 0, 5)


def test_a_process_draws_its_slice(monkeypatch):
    monkeypatch.setattr(Group, "replicate", lambda self, model: model)
    settings = {**SETTINGS, "accumulation": 4}
    whole = training_batch(TEXT, 1, 7, 4, 2, 24)
    for rank in range(2):
        step = Step(GPT(GPTConfig(**SHAPE)), settings, 1, "float32", Group(rank, 2))
        assert torch.equal(step.draw(TEXT, 7), whole[rank::2])


def test_no_two_processes_share_dropout_masks():
    """Neither where they divide the micro-batches nor where each takes a part of every one."""
    for accumulation in (4, 1):
        seeds = [
            dropout_seed(1, step, micro, rank)
            for step in range(3)
            for rank in range(2)
            for micro in share_of(accumulation, 4, rank, 2).micros
        ]
        assert len(set(seeds)) == len(seeds)


def test_gradients_are_exchanged_once_a_step(monkeypatch):
    """With four micro-batches only the last backward pass leaves the context in which nothing is exchanged."""
    entered = []
    monkeypatch.setattr(Group, "accumulating", lambda self, replica: entered.append(1) or torch.enable_grad())
    step = Step(GPT(GPTConfig(**SHAPE)), {**SETTINGS, "accumulation": 4}, 1, "float32", Group())
    step.take(step.draw(TEXT, 0), 0)
    assert len(entered) == 3


@pytest.mark.slow
def test_together_with_dropout_stopped_and_resumed_ends_with_the_same_bits(task):
    """SIGTERM to the launcher reaches both processes, which stop at the same step and save."""
    settings = {"max_steps": 400, "evaluation_interval": 40, "patience": 50}
    launch(task("straight", **settings), 2)
    stopped = task("stopped", **settings)
    code = (
        f"import sys; sys.path.insert(0, {str(SCRIPTS)!r})\n"
        "from oversmoothing.training.launch import launch; from oversmoothing.training.task import Task\n"
        f"launch({stopped!r}, 2)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    resume = Path(stopped.checkpoints) / "resume.safetensors"
    try:
        limit = time.monotonic() + 300
        while not resume.exists():
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < limit
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGTERM)
        error = process.communicate()[1]
    assert "stopped by SIGTERM at step" in error
    step = json.loads(load_tensors(resume)[1]["progress"])["step"]
    assert 0 < step < 400, "the signal came too late to test anything"
    launch(stopped, 2)
    assert f"resuming at step {step}" in Path(stopped.log).read_text()
    assert read_table(stopped.history).equals(read_table(task("straight").history))
    assert same_bits(stopped.weights, task("straight").weights)
    assert not Path(stopped.checkpoints).exists()


def test_of_several_errors_what_a_user_can_mend_is_told(tmp_path):
    for rank, message in ((0, None), (1, "out of memory: lower the batch")):
        report = {"message": message, "traceback": f"Traceback {rank}"}
        (tmp_path / f"error-{rank}.json").write_text(json.dumps(report))
    assert str(failure(tmp_path, [1, 1])) == "out of memory: lower the batch"
    (tmp_path / "error-1.json").unlink()
    error = failure(tmp_path, [1, -9])
    assert isinstance(error, RuntimeError)
    assert "rank 0: 1, rank 1: -9" in str(error)
    assert "Traceback 0" in str(error)


def test_the_lock_is_held_by_the_first(task):
    held = task("held")
    with (
        Checkpoints(held.checkpoints, "key", 5).lock(),
        pytest.raises(UserError, match=r"another process \(.* process \d+\) is training this model"),
    ):
        launch(held, 2)


@pytest.mark.slow
def test_a_compiled_training_has_the_same_losses_and_names(task):
    """It takes a C++ compiler and half a minute; its weights load like any other."""
    shape = {**SHAPE, "dropout": 0.0}
    launch(task("plain", shape, max_steps=20), 1)
    launch(task("compiled", shape, max_steps=20, compile=True), 1)
    plain, compiled = (read_table(task(name).history).to_pandas() for name in ("plain", "compiled"))
    np.testing.assert_allclose(compiled.validation_loss, plain.validation_loss, atol=1e-3)
    assert load_tensors(task("compiled").weights)[0].keys() == load_tensors(task("plain").weights)[0].keys()
