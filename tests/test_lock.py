"""No two trainings in one folder: not on one machine, not on two, not where the file system has no locks."""

import fcntl
import threading
import time

import pytest

from oversmoothing.jobs import UserError
from oversmoothing.training import lock as module
from oversmoothing.training.lock import Lock

ELSEWHERE = "elsewhere process 7 (SLURM job 12) abc"


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(module, "BEAT", 0.05)
    monkeypatch.setattr(module, "SILENCE", 1.0)


@pytest.fixture
def no_flock(monkeypatch):
    def refuse(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)


def test_nothing_is_left_but_the_lock_file(tmp_path):
    with Lock(tmp_path).held():
        assert (tmp_path / "owner").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_a_second_holder_is_told_who_the_first_is(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "41")
    first = Lock(tmp_path)
    with (
        first.held(),
        pytest.raises(UserError, match=r"another process \(.* \(SLURM job 41\)\) is training this model"),
        Lock(tmp_path).held(),
    ):
        pass
    with Lock(tmp_path).held():
        pass


def test_one_that_died_here_is_replaced_at_once(tmp_path):
    dead = Lock(tmp_path)
    dead._write(3)
    began = time.monotonic()
    with Lock(tmp_path).held():
        assert time.monotonic() - began < 0.5


def test_one_that_died_elsewhere_is_replaced_after_a_silence(tmp_path):
    (tmp_path / "owner").write_text(f"{ELSEWHERE} 3")
    began = time.monotonic()
    with Lock(tmp_path).held():
        assert time.monotonic() - began >= 1.0


def test_one_that_lives_elsewhere_is_left_alone(tmp_path):
    """As where `flock` holds on one machine alone."""
    ended = threading.Event()

    def live():
        beats = 0
        while not ended.wait(0.05):
            beats += 1
            (tmp_path / "next").write_text(f"{ELSEWHERE} {beats}")
            (tmp_path / "next").replace(tmp_path / "owner")  # never half written, as the real one

    (tmp_path / "owner").write_text(f"{ELSEWHERE} 0")
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
        (tmp_path / "owner").write_text(f"{ELSEWHERE} 0")
        with pytest.raises(UserError, match=r"elsewhere process 7 .* has taken this training over; this one stops"):
            lock.verify()
    assert (tmp_path / "owner").read_text() == f"{ELSEWHERE} 0", "the other's name stays"


@pytest.mark.usefixtures("no_flock")
def test_without_file_locks_one_of_many_gets_in(tmp_path):
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
