"""Where compiled code is kept, and how many cores it takes."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from oversmoothing.numerics import compiled as module
from oversmoothing.numerics.compiled import in_threads, use_threads

ROOT = Path(__file__).parents[2]


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The system's temporary folder, beside a home in which nothing can be made."""
    tmp_path.chmod(0o700)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file/cache"))
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "temporary").chmod(0o1777)
    return tmp_path / "temporary"


def test_each_host_has_a_cache_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert module._cache_folder() == tmp_path / "cache/oversmoothing/compiled" / platform.node()
    monkeypatch.setattr(platform, "node", lambda: "another")
    assert module._cache_folder().name == "another"


def test_a_home_that_cannot_be_written_is_left_for_a_private_folder_among_the_temporary_ones(temporary):
    folder = module._cache_folder()
    assert folder == temporary / f"oversmoothing-{os.geteuid()}/compiled" / platform.node()
    for path in (folder, folder.parent, folder.parent.parent):
        assert path.stat().st_mode & 0o777 == 0o700
    assert module._cache_folder() == folder


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_folder_that_others_can_write_keeps_no_code(temporary, depth, caplog):
    folder = module._cache_folder()
    [folder, *folder.parents][depth].chmod(0o777)
    assert module._cache_folder() is None
    assert "no private folder to cache compiled code" in caplog.text


@pytest.mark.parametrize("spoilt", ["another user's", "a link", "others rename in it"])
def test_what_others_can_replace_keeps_no_code(temporary, tmp_path, monkeypatch, spoilt):
    if spoilt == "another user's":
        (temporary / "oversmoothing-4321").mkdir(mode=0o700)
        monkeypatch.setattr(module.os, "geteuid", lambda: 4321)
    elif spoilt == "a link":
        (tmp_path / "planted").mkdir(mode=0o700)
        (temporary / f"oversmoothing-{os.geteuid()}").symlink_to(tmp_path / "planted")
    else:
        temporary.chmod(0o777)
    assert module._cache_folder() is None


TWICE = """
from oversmoothing.numerics.compiled import compiled
@compiled()
def twice(x):
    return 2 * x
print(twice(3))
"""
PLANT = """
import pathlib, pickle, sys
class Planted:
    def __init__(self, whole):
        self.whole = whole
    def __reduce__(self):
        run = f"__import__('pathlib').Path({sys.argv[1]!r}).touch() or __import__('pickle').loads({self.whole!r})"
        return eval, (run,)
for path in pathlib.Path(sys.argv[2]).rglob("*.nbi"):
    with path.open("rb") as file:
        version, whole = pickle.load(file), file.read()
    path.write_bytes(pickle.dumps(version) + pickle.dumps(Planted(whole)))
    print(path)
"""


def test_code_that_was_planted_is_not_run(temporary, tmp_path):
    """numba unpickles its index of compiled code."""
    temporary.chmod(0o700)
    (tmp_path / "probe").mkdir()
    (tmp_path / "probe/twice.py").write_text(TWICE)
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    environment |= {"PYTHONPATH": str(ROOT / "scripts"), "TMPDIR": str(temporary)}

    def run(*command):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def use():
        assert run(str(tmp_path / "probe/twice.py")) == "6\n"

    use()
    planted = run("-c", PLANT, str(tmp_path / "ran"), str(temporary))
    assert planted.count(".nbi") == 1
    use()
    assert (tmp_path / "ran").exists()  # so would code in a folder that others can write
    (tmp_path / "ran").unlink()
    next(temporary.iterdir()).chmod(0o777)
    use()
    assert not (tmp_path / "ran").exists()


def test_threads_are_kept_to_the_cores_there_are():
    before = numba.get_num_threads()
    try:
        assert use_threads(1) == numba.get_num_threads() == 1
        assert use_threads(10**6) == numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS
        assert use_threads(0) == 1
    finally:
        numba.set_num_threads(before)


@pytest.fixture(params=[1, 2])
def threads(request):
    before = numba.get_num_threads()
    yield use_threads(request.param)
    numba.set_num_threads(before)


def test_threads_share_the_calls(threads):
    called = []
    in_threads(called.append, 50)
    in_threads(called.append, 0)
    assert sorted(called) == list(range(50))


@pytest.mark.usefixtures("threads")
def test_a_fault_in_a_thread_is_raised():
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda i: 1 // (i - 3), 50)
