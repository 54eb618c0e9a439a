"""No two trainings in one folder: not on one machine, not on two, not where the file system has no locks."""

import fcntl
import os
import threading
import time
from pathlib import Path

import pytest

from oversmoothing.jobs import UserError
from oversmoothing.training import lock as module
from oversmoothing.training.lock import Lock

ELSEWHERE = "elsewhere process 7 (SLURM job 12) abc"


def refuse(*_, **__):
    raise OSError(95, "Operation not supported")


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(module, "BEAT", 0.05)
    monkeypatch.setattr(module, "SILENCE", 1.0)


def test_nothing_is_left_and_what_a_killed_process_left_is_in_nobodys_way(tmp_path):
    for name in (".owner.7", ".owner.7.part", "lock", "note.txt"):
        (tmp_path / name).write_text("half an own")
    with Lock(tmp_path).held():
        assert {"lock", "owner"} <= {path.name for path in tmp_path.iterdir()}
    assert {path.name for path in tmp_path.iterdir()} == {".owner.7", ".owner.7.part", "note.txt"}


def test_an_owner_whose_name_the_disk_had_no_room_for_is_not_left(tmp_path):
    """One without a name would keep the next training waiting."""
    lock = Lock(tmp_path)
    lock._name = "\udcff"  # cannot be encoded: the write fails once the file is there, as on a full disk
    with pytest.raises(UnicodeEncodeError), lock.held():
        pass
    assert not (tmp_path / "owner").exists()


def test_signs_of_life_need_no_room_on_the_disk_and_go_on_after_one_that_failed(tmp_path, monkeypatch):
    """On a full disk nothing can be written; what can be is a time."""
    read, touch, failed = Path.open, os.utime, []

    def fail_once(path):
        if not failed:
            failed.append(path)
            raise OSError(5, "Input/output error")
        touch(path)

    monkeypatch.setattr(os, "utime", fail_once)
    with Lock(tmp_path).held():
        monkeypatch.setattr(
            Path, "open", lambda self, mode="r", **more: (read if mode in ("r", "rb") else refuse)(self, mode, **more)
        )
        seen, limit = (tmp_path / "owner").stat().st_mtime_ns, time.monotonic() + 60
        while (tmp_path / "owner").stat().st_mtime_ns == seen:
            assert time.monotonic() < limit
    assert failed == [tmp_path / "owner"]


def test_a_lock_file_that_was_removed_while_it_was_waited_for_is_no_lock(tmp_path, monkeypatch):
    def lock_too_late(file, how):
        (tmp_path / "lock").unlink()

    monkeypatch.setattr(fcntl, "flock", lock_too_late)
    with pytest.raises(UserError, match="is training this model"), Lock(tmp_path).held():
        pass


def test_a_second_holder_is_told_who_the_first_is(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "41")
    refused = pytest.raises(UserError, match=r"another process \(.* \(SLURM job 41\)\) is training this model")
    with Lock(tmp_path).held(), refused, Lock(tmp_path).held():
        pass
    with Lock(tmp_path).held():
        pass


def test_one_that_died_is_replaced_at_once_here_and_after_a_silence_elsewhere(tmp_path):
    Lock(tmp_path)._create()
    began = time.monotonic()
    with Lock(tmp_path).held():
        assert time.monotonic() - began < 1.0
    (tmp_path / "owner").write_text(ELSEWHERE)
    with Lock(tmp_path).held():
        assert time.monotonic() - began >= 1.0


def test_one_that_lives_elsewhere_is_left_alone(tmp_path):
    """As where `flock` holds on one machine alone."""
    ended = threading.Event()

    def live():
        while not ended.wait(0.05):
            os.utime(tmp_path / "owner")

    (tmp_path / "owner").write_text(ELSEWHERE)
    thread = threading.Thread(target=live)
    thread.start()
    try:
        with pytest.raises(UserError, match="elsewhere process 7"), Lock(tmp_path).held():
            pass
    finally:
        ended.set()
        thread.join()


def test_one_that_was_replaced_stops(tmp_path):
    lock = Lock(tmp_path)
    with lock.held():
        lock.verify()
        (tmp_path / "owner").write_text(ELSEWHERE)
        with pytest.raises(UserError, match=r"elsewhere process 7 .* has taken this training over; this one stops"):
            lock.verify()
    assert (tmp_path / "owner").read_text() == ELSEWHERE, "the other's name stays"


def test_without_file_locks_one_of_many_gets_in(tmp_path, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", refuse)
    inside, refused = [], []
    start = threading.Barrier(6)
    leave = threading.Event()

    def claim():
        start.wait()
        try:
            with Lock(tmp_path).held():
                inside.append(1)
                leave.wait(10)
        except UserError:
            refused.append(1)
            if len(refused) == 5:
                leave.set()

    threads = [threading.Thread(target=claim) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(inside), len(refused)) == (1, 5)
