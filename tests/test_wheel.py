"""The wheel and the sdist: they have every file of the library, and what is installed from them works in any folder."""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hub_models import write_token_model
from kept_runs import ROOT, STUDIES
from packaging.metadata import Metadata

LIBRARY = ROOT / "scripts/oversmoothing"
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])('dist'))"
DOCUMENTS = ("README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE")
SHIPPED = {*DOCUMENTS, "pyproject.toml", "MANIFEST.in", "envs/requirements.in"}
CALL = "import sys; from oversmoothing.commands import main; sys.exit(main(sys.argv[1:]))"
TEXT = "The water of the river flows past the houses. The people of the town read their letters number {}."


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Return a copy of what a build reads of the tree."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(LIBRARY, folder / "scripts/oversmoothing", ignore=shutil.ignore_patterns("__pycache__"))
    for name in SHIPPED:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    return folder


def build(folder, what):
    """Build a "wheel" or an "sdist" of a folder, offline; return its path."""
    built = subprocess.run([sys.executable, "-c", BUILD, f"build_{what}"], cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-2000:]
    return folder / "dist" / built.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(copy):
    return build(copy, "wheel")


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


def test_the_sdist_makes_the_same_wheel(copy, wheel, tmp_path):
    with tarfile.open(build(copy, "sdist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    assert files(unpacked) >= SHIPPED
    assert not (unpacked / "tests").exists()
    contents = []
    for path in (wheel, build(unpacked, "wheel")):
        with zipfile.ZipFile(path) as archive:
            contents.append({name: archive.read(name) for name in archive.namelist()})
    assert contents[0] == contents[1]


def test_its_metadata_are_valid_and_complete(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        found = Metadata.from_email(archive.read(name), validate=True)
        assert f"{Path(name).parent}/licenses/LICENSE" in archive.namelist()
    assert (found.license_expression, found.license_files) == ("MIT", ["LICENSE"])
    assert (found.description_content_type, str(found.requires_python)) == ("text/markdown", "<3.14,>=3.11")
    assert found.description.startswith("# How does the softmax bottleneck affect")
    assert found.keywords
    minors = range(11, 14)
    assert all(f"Programming Language :: Python :: 3.{minor}" in found.classifiers for minor in minors)
    assert not any(one.startswith("License ::") for one in found.classifiers)  # the expression replaces them
    assert {"snakemake", "torch", "transformers"} <= {needed.name for needed in found.requires_dist}


def test_the_version_is_declared_once_and_has_its_changes(wheel):
    version = wheel.name.split("-")[1]
    assert re.search(r"^## (.+?)(?: |$)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version
    for path in SHIPPED:
        declared = re.findall(rf"^version\b.*{re.escape(version)}", (ROOT / path).read_text(), re.MULTILINE)
        assert len(declared) == (path == "pyproject.toml"), path


@pytest.fixture(scope="module")
def anywhere(wheel, tmp_path_factory):
    """Return a folder that is no clone, with two models and a text, and a call of what the wheel installs there."""
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("anywhere")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for name, layout in {"small": "gpt2", "large": "llama"}.items():
        write_token_model(folder / name, layout)
    (folder / "t.txt").write_text("\n\n".join(TEXT.format(i) for i in range(100)))

    def call(*words, code=CALL):
        command, environment = [sys.executable, "-c", code, *words], {"PYTHONPATH": str(site), "PATH": ""}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    return folder, call


def test_what_is_installed_writes_the_chapters_of_the_library_and_says_what_it_lacks(anywhere):
    folder, call = anywhere
    shutil.copytree(STUDIES / "default", folder / "results")
    code, _, err = call("page", "results")
    assert code == 0, err
    assert err.startswith("Without the chapters of studies")
    text = (folder / "results/index.html").read_text()
    for heading in ("The models", "Oversmoothing", "What decoding mends", "Heads cut to a lower rank"):
        assert f"<h2>{heading}</h2>" in text


BOTH = ("./small", "./large", "--text", "t.txt", "--windows", "3", "--prompt", "8", "--scored", "8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("head", "./small", "--text", "t.txt", "--positions", "8", "--no-unargmaxable"), "effective rank"),
        (("size", "--truth", "./small", "--text", "t.txt", "--ranks", "2", "--positions", "40"), "What the best heads"),
        (("compare-models", *BOTH), "perplexity ratio"),
        (("frontier", *BOTH, "--temperatures", "1"), "beyond min-p"),
    ],
)
def test_commands_on_models_work_in_any_folder_of_their_user(anywhere, words, said):
    code, out, err = anywhere[1](*words)
    assert code == 0, err
    assert said in out, out


def test_a_function_of_the_package_compares_models(anywhere):
    call = "compare('./small', './large', 't.txt', windows=2, prompt=8, scored=8)"
    code = f"import oversmoothing; print(oversmoothing.{call}.measure.tolist())"
    status, out, err = anywhere[1](code=code)
    assert status == 0, err
    assert "reverse_kl" in out


@pytest.mark.parametrize("command", ["needs", "progress", "prompt", "page"])
def test_a_command_that_needs_a_clone_says_so_elsewhere(anywhere, tmp_path, command):
    more = {"prompt": ("text",), "page": (str(tmp_path),)}.get(command, ())
    code, _, err = anywhere[1](command, *more)
    assert code == 1
    assert err.count("\n") == 1
    assert "`git clone`" in err
