"""Where compiled code is kept, and how many cores it takes."""

import platform

import numba

from oversmoothing import compiled as module
from oversmoothing.compiled import use_threads


def test_each_host_has_a_cache_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert module._cache_folder() == tmp_path / "cache/oversmoothing/compiled" / platform.node()
    monkeypatch.setattr(platform, "node", lambda: "another")
    assert module._cache_folder().name == "another"


def test_a_home_that_cannot_be_written_is_left_for_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module.os, "access", lambda *_: False)
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    assert module._cache_folder().is_relative_to(tmp_path / "temporary")


def test_threads_are_kept_to_the_cores_there_are():
    before = numba.get_num_threads()
    try:
        assert use_threads(1) == numba.get_num_threads() == 1
        assert use_threads(10**6) == numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS
        assert use_threads(0) == 1
    finally:
        numba.set_num_threads(before)
