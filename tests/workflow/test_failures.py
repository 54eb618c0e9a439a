"""What goes wrong reads as one clear error, exits non-zero and loses nothing; a killed training goes on."""

import json
import shutil
import time

import pandas as pd
import pytest
from study import TABLE, copy_project
from waiting import wait_for

from oversmoothing.models.weights import load_metadata, load_tensors
from oversmoothing.store.parquet import read_table

WEIGHTS = "results/models/bn4-s1337/weights.safetensors"


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


def saved(project):
    """Resume files of the first model's trainings."""
    return list(project.folder.glob("checkpoints/bn4-s1337-*/resume.safetensors"))


def test_a_corpus_built_again_to_the_same_bytes_retrains_nothing(copy):
    models = state(copy.folder / "results/models")
    shutil.rmtree(copy.folder / "results/corpus")
    copy.snakemake("results/corpus/manifest.json")
    assert copy.planned() == {}
    assert state(copy.folder / "results/models") == models


def test_a_checkpoint_of_the_users_own_is_a_model_like_any_other(copy, tiny):
    shutil.copy(copy.folder / WEIGHTS, copy.folder / "mine.safetensors")
    copy.snakemake(config=tiny(("- {rank: 4}", "- {name: mine, path: mine.safetensors}")))
    table = pd.read_csv(copy.folder / TABLE)
    assert set(table.model) == {"mine", "bn16-s1337"}
    scores = [copy.folder / f"results/scores/tto/{name}.parquet" for name in ("mine", "bn4-s1337")]
    assert read_table(scores[0]).equals(read_table(scores[1]))


def test_a_training_killed_with_sigkill_resumes_to_the_same_bits(unbuilt, tiny):
    """Snakemake and its training are shot in mid-run; the same command then ends with the weights of a straight run."""
    folder = unbuilt.folder
    longer, elsewhere = ("  max_steps: 16\n", "  max_steps: 600\n"), ("folder: checkpoints", "folder: other")
    killed = tiny(longer, name="killed.yaml")
    straight = tiny(longer, elsewhere, more="results: straight\n", name="straight.yaml")
    process = unbuilt.start(WEIGHTS, config=killed)
    (resume,) = wait_for(lambda: saved(unbuilt), process)
    time.sleep(0.1)
    unbuilt.shoot(process)
    step = json.loads(load_metadata(resume)["progress"])["step"]
    assert 0 < step < 600, "the kill came too late to test anything"
    assert not (folder / WEIGHTS).exists()

    unbuilt.snakemake(WEIGHTS, config=killed)
    assert f"resuming at step {step}" in (folder / "results/logs/train/bn4-s1337.log").read_text()
    unbuilt.snakemake(WEIGHTS.replace("results/", "straight/"), config=straight)
    one, _ = load_tensors(folder / WEIGHTS)
    other, _ = load_tensors(folder / WEIGHTS.replace("results/", "straight/"))
    assert all((one[name] == other[name]).all() for name in one)
    history = "models/bn4-s1337/history.parquet"
    assert read_table(folder / "results" / history).equals(read_table(folder / "straight" / history))
    assert list((folder / "checkpoints").iterdir()) == []


def test_a_training_that_ends_unseen_is_not_trained_again(unbuilt):
    """Its process waits, once all is written, until it has been shot with Snakemake."""
    folder = unbuilt.folder
    unbuilt.edit(
        "scripts/train.py",
        "    launch(task, job.params.processes)\n",
        "    launch(task, job.params.processes)\n"
        "    import pathlib, time\n"
        "    pathlib.Path('ended').touch()\n"
        "    while pathlib.Path('hold').exists():\n"
        "        time.sleep(0.01)\n",
    )
    (folder / "hold").touch()
    process = unbuilt.start(WEIGHTS)
    wait_for((folder / "ended").exists, process)
    before = {path: path.read_bytes() for path in (folder / WEIGHTS).parent.rglob("*.*") if path.suffix}
    assert folder / WEIGHTS in before
    unbuilt.shoot(process)
    (folder / "hold").unlink()
    unbuilt.snakemake(WEIGHTS)
    log = (folder / "results/logs/train/bn4-s1337.log").read_text()
    assert "training had ended at step 16; its outputs are written again" in log
    assert "validation loss" not in log, "it trained again"
    assert {path: path.read_bytes() for path in before} == before
    assert list((folder / "checkpoints").iterdir()) == []
    assert unbuilt.planned(WEIGHTS) == {}
