"""What goes wrong reads as one clear error, exits non-zero and loses nothing; a killed training goes on."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pandas as pd
import pytest
from study import TABLE, copy_project

from oversmoothing.models.weights import load_metadata, load_tensors
from oversmoothing.store.parquet import read_table

WEIGHTS = "results/models/bn4-s1337/weights.safetensors"
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def state(folder):
    """Size and time of everything built so far."""
    return {
        path: path.stat().st_mtime_ns
        for path in (folder / "results").rglob("*")
        if path.is_file() and path.suffix != ".log"
    }


@pytest.fixture
def unbuilt(tmp_path):
    """A project with no results: enough for a training, and sooner there than a built one."""
    return copy_project(tmp_path / "unbuilt")


@pytest.fixture
def config(tmp_path):
    """Write a variation of the tiny config; return its path."""

    def write(old, new):
        text = Path(__file__).parents[1].joinpath("config/tiny.yaml").read_text()
        assert old in text
        path = tmp_path / "changed.yaml"
        path.write_text(text.replace(old, new))
        return str(path)

    return write


def test_bad_text_is_named_and_models_stay(copy, config):
    models = state(copy.folder / "results/models")
    (copy.folder / "bad.jsonl").write_text('{"txt": "Hello."}\n')
    output = copy.snakemake(config=config("text.jsonl", "bad.jsonl"), check=False)
    assert "bad.jsonl: line 1 has no field 'text' (it has: txt)" in output
    assert "Traceback" not in output
    assert state(copy.folder / "results/models") == models


def test_a_corpus_built_again_to_the_same_bytes_retrains_nothing(copy):
    models = state(copy.folder / "results/models")
    shutil.rmtree(copy.folder / "results/corpus")
    copy.snakemake("results/corpus/manifest.json")
    assert copy.planned() == {}
    copy.snakemake()
    assert state(copy.folder / "results/models") == models


def test_a_checkpoint_of_the_users_own_is_a_model_like_any_other(copy, config):
    shutil.copy(copy.folder / WEIGHTS, copy.folder / "mine.safetensors")
    path = config("- {rank: 4}", "- {name: mine, path: mine.safetensors}")
    copy.snakemake(config=path)
    table = pd.read_csv(copy.folder / TABLE)
    assert set(table.model) == {"mine", "bn16-s1337"}
    scores = [copy.folder / f"results/scores/tto/{name}.parquet" for name in ("mine", "bn4-s1337")]
    assert read_table(scores[0]).equals(read_table(scores[1]))


def test_a_training_killed_with_sigkill_resumes_to_the_same_bits(unbuilt):
    """Snakemake and its training are shot in mid-run; the same command then ends with the weights of a straight run."""
    folder = unbuilt.folder
    tiny = (folder / "tests/config/tiny.yaml").read_text().replace("  max_steps: 16\n", "  max_steps: 600\n")
    (folder / "killed.yaml").write_text(tiny)
    (folder / "straight.yaml").write_text("results: straight\n" + tiny.replace("folder: checkpoints", "folder: other"))
    command = unbuilt.command(WEIGHTS, config="killed.yaml")
    process = subprocess.Popen(command, cwd=folder, start_new_session=True, **QUIET)
    limit = time.monotonic() + 600
    while not (saved := list(folder.glob("checkpoints/bn4-s1337-*/resume.safetensors"))):
        assert process.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.01)
    time.sleep(0.1)
    resume = saved[0]
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    step = json.loads(load_metadata(resume)["progress"])["step"]
    assert 0 < step < 600, "the kill came too late to test anything"
    assert not (folder / WEIGHTS).exists()

    subprocess.run(unbuilt.command(config="killed.yaml", options=["--unlock"]), cwd=folder, check=True, **QUIET)
    unbuilt.snakemake(WEIGHTS, config="killed.yaml")
    assert f"resuming at step {step}" in (folder / "results/logs/train/bn4-s1337.log").read_text()
    unbuilt.snakemake(WEIGHTS.replace("results/", "straight/"), config="straight.yaml")
    one, _ = load_tensors(folder / WEIGHTS)
    other, _ = load_tensors(folder / WEIGHTS.replace("results/", "straight/"))
    assert all((one[name] == other[name]).all() for name in one)
    history = "models/bn4-s1337/history.parquet"
    assert read_table(folder / "results" / history).equals(read_table(folder / "straight" / history))
    assert list((folder / "checkpoints").iterdir()) == []


@pytest.mark.parametrize(
    "alone", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["all of it", "Snakemake alone"]
)
def test_a_training_that_ends_unseen_is_not_trained_again(unbuilt, alone):
    """Its process waits, once all is written, until Snakemake has been shot, with it or before it ends."""
    folder = unbuilt.folder
    unbuilt.edit(
        "scripts/train.py",
        "    launch(task, job.params.processes)\n",
        "    launch(task, job.params.processes)\n"
        "    import os, pathlib, time\n"
        "    pathlib.Path('ended').write_text(str(os.getpid()))\n"
        "    while pathlib.Path('hold').exists():\n"
        "        time.sleep(0.01)\n"
        "    pathlib.Path('ended').unlink()\n",
    )
    (folder / "hold").touch()
    process = subprocess.Popen(unbuilt.command(WEIGHTS), cwd=folder, start_new_session=True, **QUIET)
    limit = time.monotonic() + 600
    while not (folder / "ended").exists():
        assert process.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.01)
    before = {path: path.read_bytes() for path in (folder / WEIGHTS).parent.rglob("*.*") if path.suffix}
    assert folder / WEIGHTS in before
    if alone:
        process.kill()
        process.wait()
        (folder / "hold").unlink()
        while (folder / "ended").exists():
            assert time.monotonic() < limit
            time.sleep(0.01)
    else:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        (folder / "hold").unlink()

    subprocess.run(unbuilt.command(options=["--unlock"]), cwd=folder, check=True, **QUIET)
    unbuilt.snakemake(WEIGHTS)
    log = (folder / "results/logs/train/bn4-s1337.log").read_text()
    assert "training had ended at step 16; its outputs are written again" in log
    assert "validation loss" not in log, "it trained again"
    assert {path: path.read_bytes() for path in before} == before
    assert list((folder / "checkpoints").iterdir()) == []
    assert unbuilt.planned(WEIGHTS) == {}


@pytest.mark.slow
def test_two_configs_that_share_a_folder_leave_each_other_their_checkpoints(unbuilt):
    """The first is killed on its way; the second trains the same model under other settings to its end."""
    folder = unbuilt.folder
    tiny = (folder / "tests/config/tiny.yaml").read_text()
    (folder / "long.yaml").write_text(tiny.replace("  max_steps: 16\n", "  max_steps: 1000000\n"))
    process = subprocess.Popen(
        unbuilt.command(WEIGHTS, config="long.yaml"), cwd=folder, start_new_session=True, **QUIET
    )
    limit = time.monotonic() + 600
    while not (saved := list(folder.glob("checkpoints/bn4-s1337-*/resume.safetensors"))):
        assert process.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = saved[0].read_bytes()
    subprocess.run(unbuilt.command(options=["--unlock"]), cwd=folder, check=True, **QUIET)

    (folder / "other.yaml").write_text("results: other\n" + tiny)
    unbuilt.snakemake(WEIGHTS.replace("results/", "other/"), config="other.yaml")
    assert saved[0].read_bytes() == before
    assert list((folder / "checkpoints").iterdir()) == [saved[0].parent]
