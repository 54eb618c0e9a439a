"""The wheel: it has every file of the library, and what is installed from it writes the page of a results folder."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from kept_runs import ROOT, STUDIES

LIBRARY = ROOT / "scripts/oversmoothing"
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
PAGE = "import sys; from oversmoothing.commands import main; sys.exit(main(['page', sys.argv[1]]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return the wheel of a copy of the tree, built offline."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(LIBRARY, folder / "scripts/oversmoothing", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "envs/requirements.in"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    built = subprocess.run([sys.executable, "-c", BUILD, "."], cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-2000:]
    (path,) = folder.glob("*.whl")
    return path


def files(folder):
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }


def test_the_wheel_has_every_file_of_the_library_and_no_other(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not Path(name).parts[0].endswith(".dist-info")}
    assert names == {f"oversmoothing/{name}" for name in files(LIBRARY)}


def test_what_is_installed_writes_the_chapters_of_the_library_and_says_what_it_lacks(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    shutil.copytree(STUDIES / "default", tmp_path / "results")
    environment = {"PYTHONPATH": str(tmp_path / "site"), "PATH": ""}
    command = [sys.executable, "-c", PAGE, "results"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("Without the chapters of studies")
    text = (tmp_path / "results/index.html").read_text()
    for heading in ("The models", "Oversmoothing", "What decoding mends", "Heads cut to a lower rank"):
        assert f"<h2>{heading}</h2>" in text
