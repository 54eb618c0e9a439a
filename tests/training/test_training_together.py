"""Several processes train one model: the same losses as one, no shared masks, one clear error, an exact resume."""

import json
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from subprocess import Popen

import numpy as np
import pytest
import torch
from small_training import SETTINGS, SHAPE, TEXT, folder_of, key_of, make_task, same_bits
from waiting import wait_for

from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.output_kinds import NOT_LINEAR
from oversmoothing.models.weights import load_metadata, load_model, load_tensors
from oversmoothing.store.parquet import read_table
from oversmoothing.training import launch as module
from oversmoothing.training.batches import dropout_seed, share_of, training_batch
from oversmoothing.training.checkpoint import Checkpoints
from oversmoothing.training.group import Group
from oversmoothing.training.launch import SCRIPTS, failure, launch
from oversmoothing.training.step import Step


@pytest.fixture
def task(tmp_path):
    """Return a maker of tasks on the same small corpus."""
    return partial(make_task, tmp_path)


@pytest.fixture
def trained(task):
    """Return what trains a task in some processes, and its history."""

    def train(name, processes, **changes):
        launch(task(name, **changes), processes)
        return read_table(task(name).history).to_pandas()

    return train


WITHOUT_DROPOUT = {**SHAPE, "dropout": 0.0}


OBJECTIVE = {"objective": {"name": "tailr", "gamma": 0.2}}


@pytest.mark.parametrize(
    "changes",
    [{"backward_rank": 2}, {"accumulation": 1, "batch": 4, **OBJECTIVE}],
    ids=["each its micro-batches", "each its sequences of one"],
)
def test_two_processes_have_the_losses_of_one(task, trained, changes):
    """The root mean square of a backward rank's gradient is that of a micro-batch, so each takes whole ones."""
    changes = {"shape": {**WITHOUT_DROPOUT, "rank": None}, **changes}
    one, two = trained("one", 1, **changes), trained("two", 2, **changes)
    assert one.step.tolist() == two.step.tolist() == [0, 10, 20, 30, 40]
    assert one.train_loss.iloc[-1] < one.train_loss.iloc[1] - 0.2
    np.testing.assert_allclose(two.train_loss[1:], one.train_loss[1:], atol=1e-4)
    np.testing.assert_allclose(two.validation_loss, one.validation_loss, atol=1e-4)
    assert load_metadata(task("two").weights)["processes"] == "2"
    load_model(task("two").weights)


def test_slices_make_up_the_global_batch():
    whole = training_batch(TEXT, 1, 7, 4, 6, 24)
    for accumulation, batch, processes in ((4, 6, 2), (4, 6, 4), (3, 6, 2)):
        shares = [share_of(accumulation, batch, number, processes) for number in range(processes)]
        parts = [whole[list(share.micros), share.rows] for share in shares]
        assert len({part.shape for part in parts}) == 1
        rows = {bytes(row.numpy()) for part in parts for row in part.flatten(0, 1)}
        assert rows == {bytes(row.numpy()) for row in whole[:accumulation].flatten(0, 1)}
    with pytest.raises(UserError, match=r"training.processes: 5 divides neither training.accumulation, 4, nor .* 6"):
        share_of(4, 6, 0, 5)


def test_no_two_processes_share_dropout_masks():
    """Neither where they divide the micro-batches nor where each takes a part of every one."""
    for accumulation in (4, 1):
        seeds = [
            dropout_seed(1, step, micro, number)
            for step in range(3)
            for number in range(2)
            for micro in share_of(accumulation, 4, number, 2).micros
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
    code = f"""import sys; sys.path.insert(0, {str(SCRIPTS)!r})
from oversmoothing.training.launch import Task, launch
launch({stopped!r}, 2)"""
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    resume = folder_of(stopped).resume
    try:
        wait_for(resume.exists, process)
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


def test_of_several_errors_what_a_user_can_mend_is_told(tmp_path):
    for number, message in ((0, None), (1, "out of memory: lower the batch")):
        report = {"message": message, "traceback": f"Traceback {number}"}
        (tmp_path / f"error-{number}.json").write_text(json.dumps(report))
    assert str(failure(tmp_path, [1, 1])) == "out of memory: lower the batch"
    (tmp_path / "error-1.json").unlink()
    error = failure(tmp_path, [1, -9])
    assert isinstance(error, RuntimeError)
    assert "process 0: 1, process 1: -9" in str(error)
    assert "Traceback 0" in str(error)


def test_when_one_fails_the_others_are_ended(task, monkeypatch):
    """Two would run on for a minute after the third has failed."""
    code = "import os, sys, time; sys.exit(3) if os.environ['RANK'] == '2' else time.sleep(60)"
    started = []

    def start(_, env):
        started.append(Popen([sys.executable, "-c", code], env=env))
        return started[-1]

    monkeypatch.setattr(module.subprocess, "Popen", start)
    statuses = r"process failed \(exit statuses process 0: -9, process 1: -9, process 2: 3\)"
    with pytest.raises(RuntimeError, match=statuses):
        launch(task("three"), 3)
    assert [process.poll() for process in started] == [-signal.SIGKILL, -signal.SIGKILL, 3]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_every_process(task, monkeypatch, number):
    """They say that they are ready, get the signal through the launcher, and end as it lets them."""
    code = f"""import signal, sys, time
signal.signal({int(number)}, lambda number, _: sys.exit(number))
print('ready', flush=True)
time.sleep(1000)"""
    started = []

    def start(_, env):
        process = Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, start_new_session=True)
        assert process.stdout.readline() == b"ready\n"
        started.append(process)
        if len(started) == 2:
            threading.Timer(0.1, os.kill, (os.getpid(), number)).start()
        return process

    monkeypatch.setattr(module.subprocess, "Popen", start)
    with pytest.raises(RuntimeError, match=f"exit statuses process 0: {int(number)}, process 1: {int(number)}"):
        launch(task("two"), 2)


def test_the_folder_of_checkpoints_is_locked(task):
    held = task("held")
    refused = pytest.raises(UserError, match=r"another process \(.* process \d+\) is training this model")
    with Checkpoints(held.checkpoints, key_of(held), 5).lock(), refused:
        launch(held, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [{}, OBJECTIVE, *({"shape": {**WITHOUT_DROPOUT, "output": kind}} for kind in NOT_LINEAR)],
    ids=str,
)
def test_a_compiled_training_has_the_same_losses_and_names(task, trained, changes):
    """It takes a C++ compiler and half a minute; its weights load like any other."""
    changes = {"shape": WITHOUT_DROPOUT, "max_steps": 20} | changes
    plain, compiled = trained("plain", 1, **changes), trained("compiled", 1, compile=True, **changes)
    np.testing.assert_allclose(compiled.validation_loss, plain.validation_loss, atol=1e-3)
    assert load_tensors(task("compiled").weights)[0].keys() == load_tensors(task("plain").weights)[0].keys()
