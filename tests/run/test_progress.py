"""How far a study has come: Snakemake's summary, and checkpoints."""

import json
import os
from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest
from safetensors.numpy import save_file

from oversmoothing.run import progress
from oversmoothing.run.progress import ABSENT, FINISHED, OUTDATED, model_of, outdated, overview, read_summary
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import digest
from oversmoothing.store.sealed_json import write_sealed
from oversmoothing.training.folder import training_packages

SUMMARY = """output_file\tdate\trule\tlog-file(s)\tstatus\tplan
results/logits/a.parquet\tSat Nov 21 11:21:49 2026\tlogits\tx.log\tok\tno update
results/logits/b.parquet\tSat Nov 21 11:21:49 2026\tlogits\tx.log\tok\tupdate pending
results/scores/tto/a.parquet\tSat Nov 21 11:21:49 2026\tscore\t\tparams changed\tupdate pending
results/scores/tto/b.parquet\t-\tscore\t-\tmissing\tupdate pending
results/tables/t.csv\tSat Nov 21 11:21:49 2026\tt\t\tok\tupdate pending
"""
SETTINGS = {"training": {"max_steps": 100_000}}
MODEL = {"model": "a", "kind": "family", "settings": SETTINGS, "learning_rate": None}
PACKAGES = training_packages()
CORPUS = {"splits": {"train": {"sha256": "1"}, "validation": {"sha256": "2"}, "evaluation": {"sha256": "3"}}}


def test_a_file_that_would_be_made_again_is_not_finished_and_the_overview_counts_files_by_stage():
    states = read_summary(SUMMARY)
    assert list(states.values()) == [FINISHED, OUTDATED, OUTDATED, ABSENT, OUTDATED]
    assert outdated(states, "results") == {"logits": 1, "scores": 1}
    rows = overview([{"model": "a"}, {"model": "b"}], {"a": "done", "b": "waiting"}, states, "results")
    assert [row["logits"] for row in rows] == ["done", "waiting, 1 outdated"]
    assert [row["scores"] for row in rows] == ["waiting, 1 outdated", "waiting"]
    assert [row["samples"] for row in rows] == ["-", "-"]


def test_a_model_that_is_read_as_bytes_is_not_waiting(tmp_path, state_of):
    """Neither for a training, which it does not have, nor for its logits, which its log tells of."""
    assert state_of(kind="truth", settings=None) == "-"
    states = {str(tmp_path / "logits/a.parquet"): ABSENT}
    log = tmp_path / "logs/byte_logits/a.log"
    log.parent.mkdir(parents=True)
    assert overview([{"model": "a"}], {"a": "-"}, states, tmp_path)[0]["logits"] == "waiting"
    log.write_text("t INFO a over 100 windows on cpu\nt INFO window 29 of 100\nt INFO window 30 of 100\n")
    os.utime(log, (1e9, 1e9))
    at = datetime.fromtimestamp(1e9).strftime("%d %b %H:%M")
    assert overview([{"model": "a"}], {"a": "-"}, states, tmp_path)[0]["logits"] == f"window 30 of 100 at {at}"
    states = dict.fromkeys(states, FINISHED)
    assert overview([{"model": "a"}], {"a": "-"}, states, tmp_path)[0]["logits"] == "done"


def test_a_path_names_its_model():
    for path in ("logits/a.parquet", "scores/tto/a.parquet", "samples/a/pure.parquet", "models/a/weights.safetensors"):
        assert model_of(f"results/{path}", "results") == "a"
    for path in ("results/windows.parquet", "resources/published/a.csv"):
        assert model_of(path, "results") is None


def checkpoint(checkpoints, settings):
    key = digest({"settings": settings, "code": "c", "corpus": {"train": "1", "validation": "2"}, "packages": PACKAGES})
    folder = checkpoints.with_name(f"{checkpoints.name}-{key[:8]}")
    folder.mkdir()
    history = [{"validation_loss": 5.5}, {"validation_loss": 1.53}]
    reached = json.dumps({"step": 12_000, "history": history})
    save_file({"x": np.zeros(1)}, folder / "resume.safetensors", {"key": key, "progress": reached})


@pytest.fixture
def state_of(tmp_path):
    """Say how far the training of a model is, whose checkpoints lie in a folder of the test."""

    def state(states=(), code="c", corpus=CORPUS, **changes):
        model = {**MODEL, "checkpoints": str(tmp_path / "a"), **changes}
        return progress.training_state(model, dict(states), tmp_path, code, corpus)

    return state


def test_a_training_under_way_shows_its_step_and_loss(tmp_path, state_of):
    assert state_of() == "waiting"
    checkpoint(tmp_path / "a", SETTINGS)
    assert state_of() == "step 12,000 of 100,000, validation loss 1.530"
    assert "of another config, text or code" in state_of(code="other code")
    assert "of another config, text or code" in state_of(corpus={})
    assert state_of(kind="svd") == "-"


@pytest.mark.parametrize("damage", [lambda data: data[:20], lambda data: data.replace(b"12000", b"12,,0")])
def test_a_damaged_checkpoint_is_named(tmp_path, state_of, damage):
    checkpoint(tmp_path / "a", SETTINGS)
    (path,) = tmp_path.glob("*/resume.safetensors")
    path.write_bytes(damage(path.read_bytes()))
    assert state_of() == f"{path} is damaged"


def test_a_training_whose_learning_rate_was_chosen_is_known_by_it(tmp_path, state_of):
    chosen = tmp_path / "a.json"
    checkpoint(tmp_path / "a", {**SETTINGS, "training": {**SETTINGS["training"], "learning_rate": 0.5}})
    assert state_of(learning_rate=str(chosen)) == "waiting"
    choice = {"arm": "a", "losses": {"0.1": 2.0, "0.5": 1.0}}
    write_sealed(chosen, {**choice, "learning_rate": 0.5})
    assert state_of(learning_rate=str(chosen)) == "step 12,000 of 100,000, validation loss 1.530"
    write_sealed(chosen, {**choice, "learning_rate": 0.1})
    assert "of another config, text or code" in state_of(learning_rate=str(chosen))


def test_a_finished_training_shows_the_lowest_loss(tmp_path, state_of):
    weights, history = (tmp_path / f"models/a/{name}" for name in ("weights.safetensors", "history.parquet"))
    write_table(history, pa.table({"validation_loss": [3.0, 1.25, 2.0]}), {})
    files = (str(weights), str(history))
    assert state_of(dict.fromkeys(files, FINISHED)) == "done, validation loss 1.250"
    assert "to be done again" in state_of(dict.fromkeys(files, OUTDATED))
    assert state_of({str(weights): FINISHED}, settings=None) == "done"  # the user's own: without a history
