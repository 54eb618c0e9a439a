"""The end of a training: nothing of it is lost until its outputs count, and nothing stays once they do."""

import json
import os
import shutil
import signal
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from small_training import folder_of, key_of, make_task

from oversmoothing import fingerprint, jobs
from oversmoothing.jobs import UserError
from oversmoothing.models.weights import load_metadata
from oversmoothing.store.parquet import read_table
from oversmoothing.training import task as module
from oversmoothing.training.accepted import accepted, discard
from oversmoothing.training.checkpoint import Checkpoints, Progress
from oversmoothing.training.group import Group
from oversmoothing.training.lock import Lock
from oversmoothing.training.step import Step
from oversmoothing.training.task import perform

QUICK = {"max_steps": 10, "evaluation_interval": 5}


@pytest.fixture
def ended(tmp_path):
    """A training whose outputs are written."""
    task = make_task(tmp_path, "m", **QUICK)
    perform(task, Group())
    return task


def files(where):
    return {path: path.read_bytes() for path in Path(where).rglob("*") if path.is_file()}


def fail(*_):
    raise OSError(28, "No space left on device")


def test_outputs_that_are_lost_are_written_again_without_a_step(ended, monkeypatch):
    """As Snakemake deletes them that it did not see completed."""
    out = Path(ended.weights).parent
    before = files(out)
    snapshots = [f"{step:08d}.safetensors" for step in (0, 1, 2, 4, 8)]
    assert sorted(path.name for path in before) == [*snapshots, "history.parquet", "weights.safetensors"]
    shutil.rmtree(out)
    Path(ended.snapshots).mkdir(parents=True)
    Path(ended.snapshots, "00000512.safetensors").write_text("an orphan's")
    monkeypatch.setattr(Step, "take", None)
    perform(ended, Group())
    assert files(out) == before


def test_snapshots_are_links_where_they_can_be_and_else_copies(ended, monkeypatch):
    before, first = files(Path(ended.weights).parent), Path(ended.snapshots, "00000000.safetensors")
    assert folder_of(ended).snapshot(0).samefile(first)
    monkeypatch.setattr(os, "link", fail)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", fail)
        with pytest.raises(UserError, match=r"snapshots/00000000.safetensors: no space left on the disk; free some"):
            perform(ended, Group())
    monkeypatch.setattr(Step, "take", None)
    perform(ended, Group())
    assert files(Path(ended.weights).parent) == before
    assert not folder_of(ended).snapshot(0).samefile(first)


def test_a_snapshot_that_is_missing_is_named(ended):
    folder_of(ended).snapshot(4).unlink()
    with pytest.raises(UserError, match=r"00000004.safetensors: missing or damaged, .* delete .* to train from the"):
        perform(ended, Group())
    with pytest.raises(UserError, match=r"00000004.safetensors: no such file"):
        module.write_outputs(folder_of(ended), [0, 4], ended.weights, ended.history, ended.snapshots)


def test_the_outputs_say_how_they_were_trained(ended):
    before = load_metadata(ended.weights)
    assert before["device"] == "cpu"
    assert before["training"] == key_of(ended)
    facts = pq.read_schema(ended.history).metadata
    assert (facts[b"processes"], facts.get(b"seal")) == (b"1", None)  # a seal stands in one place, not in the schema
    read_table(ended.history)


def test_two_trainings_never_write_the_same_outputs(ended, tmp_path):
    """Of two configs, one of them an orphan's: their checkpoints lie apart, their outputs do not."""
    other = make_task(tmp_path, "m", **QUICK | {"max_steps": 5})
    assert folder_of(other) != folder_of(ended)
    refused = pytest.raises(UserError, match=r"/m: another process \(.*\) is training this model; wait for it or")
    with Lock(Path(ended.weights).parent).held(), refused:
        perform(other, Group())


def test_a_process_that_was_replaced_writes_no_outputs(tmp_path, monkeypatch):
    task = make_task(tmp_path, "m", **QUICK)
    out = Path(task.weights).parent
    finish = Checkpoints.finish

    def suspended(self, progress):
        finish(self, progress)
        (out / "owner").write_text("elsewhere process 7 abc")

    monkeypatch.setattr(Checkpoints, "finish", suspended)
    with pytest.raises(UserError, match=r"\(elsewhere process 7\) has taken this training over; this one stops"):
        perform(task, Group())
    assert not Path(task.weights).exists()


def test_a_file_is_on_the_disk_before_it_takes_the_old_ones_place(ended, monkeypatch):
    """A power cut must not leave an empty checkpoint under the name of a whole one."""
    seen = []
    flush, replace = os.fsync, Path.replace

    def noted_flush(file):
        seen.append(str(Path(f"/proc/self/fd/{file}").readlink()))
        flush(file)

    monkeypatch.setattr(os, "fsync", noted_flush)
    monkeypatch.setattr(Path, "replace", lambda self, other: seen.append(self) or replace(self, other))
    perform(ended, Group())
    renamed = [path for path in seen if isinstance(path, Path)]
    assert len(renamed) == 7  # five snapshots, history, weights
    for path in renamed:
        assert seen.index(str(path)) < seen.index(path)


def test_what_is_accepted_is_deleted(ended):
    discard(ended.checkpoints, ended.weights)
    assert list(Path(ended.checkpoints).parent.iterdir()) == []
    assert len(files(ended.snapshots)) == 5
    discard(ended.checkpoints, ended.weights)  # nothing there any more


def test_what_is_not_ours_is_not_deleted(ended):
    path = folder_of(ended).path
    mine = (path / "note.txt", path / "snapshots" / "mine.safetensors")
    for file in mine:
        file.write_text("mine")
    (path / ".best.safetensors.7.part").write_text("half a wei")
    discard(ended.checkpoints, ended.weights)
    assert set(files(path)) == set(mine)


def of_another_training(task):
    perform(make_task(Path(task.manifest).parent, "other", **QUICK | {"max_steps": 5}), Group())
    shutil.copy(Path(task.weights).parents[1] / "other/weights.safetensors", task.weights)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda task: Path(task.weights).unlink(),
        lambda task: Path(task.weights).write_bytes(b"\xff" * 8),
        lambda task: Path(task.weights).write_bytes((4).to_bytes(8, "little") + b"null"),  # no object
        of_another_training,
        lambda task: (folder_of(task).path / "owner").write_text("elsewhere process 7 abc"),
    ],
    ids=["missing", "damaged", "null", "another's", "in use"],
)
def test_what_is_not_accepted_stays(ended, spoil):
    spoil(ended)
    before = files(folder_of(ended).path)
    discard(ended.checkpoints, ended.weights)
    assert files(folder_of(ended).path) == before


def test_a_training_under_way_stays(ended, tmp_path):
    """Another results folder may train the same model in the same folder of checkpoints."""
    checkpoints = Checkpoints(ended.checkpoints, key_of(ended), 5)
    with checkpoints.lock():
        checkpoints._write({}, Progress(step=3))
    discard(ended.checkpoints, ended.weights)
    assert folder_of(ended).resume.exists()


@pytest.mark.parametrize("version", ["9.9.9", "2.13.7+cu128"])
def test_a_training_under_another_version_of_pytorch_starts_anew(tmp_path, monkeypatch, caplog, version):
    """One that was paused must not mix what two versions compute; a build or a repair of a version is the same one."""
    real = fingerprint.version

    def pretend(version):
        monkeypatch.setattr(fingerprint, "version", lambda name: version if name == "torch" else real(name))

    pretend("2.13.0")
    task = make_task(tmp_path, "m", **QUICK)
    before, step = folder_of(task), Step.take
    with monkeypatch.context() as patch:
        patch.setattr(Step, "take", lambda self, *args: os.kill(os.getpid(), signal.SIGTERM) or step(self, *args))
        with pytest.raises(UserError, match="stopped by SIGTERM at step"):
            perform(task, Group())
    assert before.resume.exists()
    pretend(version)
    with caplog.at_level("INFO"):
        perform(task, Group())
    same = version.startswith("2.13")
    assert ("resuming at step" in caplog.text) == same
    assert (f"{before.path}: of other settings, code, data or packages; delete it if" in caplog.text) != same
    assert json.loads(load_metadata(before.resume)["progress"])["finished"] == same


def test_only_what_snakemake_has_recorded_is_accepted():
    params = {"old": ["checkpoints"], "new": ["checkpoints"], "waits": ["checkpoints"], "else": []}
    dag = SimpleNamespace(
        jobs=[
            SimpleNamespace(rule=SimpleNamespace(params=dict.fromkeys(keys)), name=name)
            for name, keys in params.items()
        ],
        finished=lambda job: job.name == "new",
        needrun=lambda job: job.name in ("new", "waits"),
    )
    assert [job.name for job in accepted(dag)] == ["old", "new"]


def test_all_outputs_state_their_names_and_how_many_classes_the_model_has(tmp_path, monkeypatch):
    """Snapshots, too, which are written long before they are outputs."""
    task = make_task(tmp_path, "m", **QUICK)
    names = {path: Path(path).relative_to(tmp_path).as_posix() for path in (task.weights, task.history, task.snapshots)}
    monkeypatch.setattr(jobs, "asked", {"inputs": {}, "outputs": names})
    perform(task, Group())
    snapshots = files(task.snapshots)
    assert len(snapshots) > 2
    for path in (Path(task.weights), *snapshots):
        stated = load_metadata(path)
        assert stated["file"] == path.relative_to(tmp_path).as_posix()
        assert json.loads(stated["settings"])["model"]["vocabulary"] == 256
    assert pq.read_schema(task.history).metadata[b"file"] == b"m/history.parquet"
